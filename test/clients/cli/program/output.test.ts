import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import test, { type ExecutionContext } from 'ava'
import type { Command } from 'commander'
import { createProgram } from '../../../../clients/cli/program/program.ts'
import { runProgram } from '../../../../clients/cli/program/run-program.ts'
import { worldOf } from '../../../../clients/cli/program/session.ts'
import { type Forge, sharedForge } from '../../../servers/forge.ts'
import { ownProcess } from '../../../servers/own-process.ts'
import { createRun, ingest } from '../../../servers/runs.ts'
import { shell } from '../../../servers/shell.ts'
import { until } from '../../../servers/until.ts'

const theForge = sharedForge()
const lines = 6000

/** A run whose log and list of requests are longer than any buffer of a pipe. */
async function longRun(forge: Forge): Promise<string> {
  const run = await createRun(forge)
  const chunks = Array.from({ length: lines }, (_, at) => `line ${at + 1} ${'x'.repeat(60)}`)
  for (let at = 0; at < lines; at += 2000)
    await ingest(forge, run, 'logs', { chunks: chunks.slice(at, at + 2000) })
  await until('the last line', 15_000, async () => {
    const { body } = await forge.call<{ text: string }[]>(
      'GET',
      `/api/runs/${run.run_id}/logs?before=9007199254740991&limit=1`,
    )
    return body[0]?.text.startsWith(`line ${lines} `)
  })
  return run.run_id
}

/** Runs a line of the shell in a new home. */
async function inShell(t: ExecutionContext, forge: Forge, script: string) {
  const home = await mkdtemp(join(tmpdir(), 'forge-home-'))
  t.teardown(() => rm(home, { recursive: true, force: true }))
  return { home, ...(await shell({ forge, home }, script)) }
}

test('a slow reader of a pipe gets everything', async t => {
  const forge = await theForge()
  const runId = await longRun(forge)
  // The reader begins when the command line has ended, or has filled the pipe and waits.
  const slowly = '(until [ -e ended ] || [ $((i += 1)) -gt 20 ]; do sleep 0.1; done; wc -l)'
  for (const command of [
    `logs ${runId}`,
    `logs ${runId} --tail ${lines}`,
    `logs ${runId} --json`,
    `metrics ${runId} --export csv`,
  ]) {
    const { code, stdout, stderr } = await inShell(
      t,
      forge,
      `rm -f ended; (forge ${command}; c=$?; : >ended; exit $c) | ${slowly}`,
    )
    t.is(code, 0, stderr)
    const wanted = command.startsWith('logs') ? lines : 1
    t.is(Number(stdout), wanted, command)
  }
})

test('a reader that has enough ends the command silently', async t => {
  const forge = await theForge()
  const runId = await longRun(forge)
  for (const command of [`logs ${runId}`, 'ps -a', 'ps --help']) {
    const { code, stdout, stderr } = await inShell(t, forge, `forge ${command} | head -1`)
    t.like({ code, stderr }, { code: 0, stderr: '' }, command)
    t.is(stdout.split('\n').length, 2)
  }
  const closed = await inShell(t, forge, `forge logs ${runId} 2>&1 | true`)
  t.like(closed, { code: 0, stderr: '' })
})

test('a redirection to a full disk fails, also if only the last write is cut short', async t => {
  const forge = await theForge()
  const runId = await longRun(forge)
  const full = await inShell(t, forge, 'forge whoami > /dev/full')
  t.is(full.code, 74)
  t.regex(full.stderr, /^error: The output is not whole: ENOSPC[^\n]*\n$/)
  const other = await inShell(t, forge, 'forge whoami 2> /dev/full')
  t.is(other.code, 0, 'nothing was to be said on stderr')
  const missing = await inShell(t, forge, 'forge show no-such-run > /dev/full')
  t.is(missing.code, 3, 'the code of the command itself comes first')
  // The limit is within the last line: the only write that meets it is a short one.
  const limited = await inShell(t, forge, `ulimit -f 1; forge logs ${runId} --tail 15 > out`)
  t.is((await readFile(join(limited.home, 'out'))).length, 1024)
  t.is(limited.code, 74)
  t.regex(limited.stderr, /^error: The output is not whole: EFBIG[^\n]*\n$/)
})

/** Runs a command inside this process, with a stdout that takes nothing. */
async function withoutRoom(args: readonly string[], env: Record<string, string> = {}) {
  const own = ownProcess({ stdin: '', env, cwd: tmpdir(), onStdout: () => {} })
  const stdout = new Writable({
    write: (_chunk, _encoding, done) =>
      done(Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })),
  })
  const code = await runProgram(worldOf(Object.assign(own.process, { stdout })), args)
  return { code, stderr: own.stderr() }
}

const everyCommand = (command: Command, names: readonly string[] = []): string[][] => [
  [...names],
  ...command.commands.flatMap(one => everyCommand(one, [...names, one.name()])),
]

test('every command says in one line that its output is not whole, and fails', async t => {
  const own = ownProcess({ stdin: '', env: {}, cwd: tmpdir(), onStdout: () => {} })
  const commands = everyCommand(createProgram(worldOf(own.process), () => {}))
  t.true(commands.length > 80)
  const expected = {
    code: 74,
    stderr: 'error: The output is not whole: ENOSPC: no space left on device\n',
  }
  for (const names of commands.filter(names => names[0] !== '__complete'))
    t.deepEqual(await withoutRoom([...names, '--help']), expected, names.join(' '))

  const forge = await theForge()
  const { run_id: runId } = await createRun(forge)
  const signedIn = { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token }
  for (const command of [
    ...[
      'whoami',
      'ps -a',
      'ps -q',
      'ps state:pending',
      'recipe list',
      'profile list',
      'projects list',
    ],
    ...[`show ${runId}`, `env ${runId} --json`, `metrics ${runId} --json`, 'queue --json'],
    ...[
      'usage --json',
      'audit list',
      'admin users list',
      'admin queue status',
      'admin projections',
    ],
    ...['--version', 'completion bash', 'context list --json'],
  ]) {
    const { code, stderr } = await withoutRoom(command.split(' '), signedIn)
    t.is(code, 74, command)
    t.is(stderr.match(/ENOSPC/g)?.length, 1, command)
  }
  const json = await withoutRoom(['whoami', '--json'], signedIn)
  t.like(JSON.parse(json.stderr).error, { exit_code: 74 })
})
