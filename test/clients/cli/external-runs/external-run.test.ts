import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { commandLine, type Ended } from '../../../servers/command-line.ts'
import { type Forge, sharedForge, startForge, startForgeProcess } from '../../../servers/forge.ts'
import { patient } from '../../../servers/patience.ts'
import { proxyBefore } from '../../../servers/proxy.ts'
import { createRun } from '../../../servers/runs.ts'
import { until } from '../../../servers/until.ts'

const pythonClient = join(import.meta.dirname, '../../../../clients/python/src')

type Row = { run_id: string; state: string }
type Shown = { state: string; counts: { points: number } }
type Line = { seq: number; text: string; stream: string }

/** Each test has its own project; tests that stop a server, or count its runs, start another. */
const shared = sharedForge()

const signedIn = (forge: Forge) => ({ FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
const runIdOf = (stderr: string) => /run_\w+/.exec(stderr)?.[0] ?? ''

async function logOf(forge: Forge, runId: string): Promise<Line[]> {
  const { body } = await forge.call<Line[]>('GET', `/api/runs/${runId}/logs?limit=500`)
  return body
}

test('the reason of a failure is what the command said last, not what Forge said after it', async t => {
  const forge = await shared()
  const { run } = await commandLine(t, signedIn(forge))
  const script =
    'echo "ValueError: bad lr" >&2; echo "forge: all sent  http://x/runs/y" >&2; exit 1'
  const ended = await run(['run', '-p', 'reason', '--', 'sh', '-c', script])
  t.is(ended.code, 1)
  const last = ended.stderr.trimEnd().split('\n').at(-1) ?? ''
  t.regex(last, /^forge: reason-1 · failed · .*exit code 1: ValueError: bad lr {2}http/)
  const { body } = await forge.call<{ message: string }>(
    'GET',
    `/api/runs/${runIdOf(ended.stderr)}`,
  )
  t.is(body.message, 'exit code 1\nValueError: bad lr')
})

test('a command becomes an external run: output, variables, end and exit code', async t => {
  const forge = await shared()
  const { run } = await commandLine(t, signedIn(forge))
  const script =
    'read line; echo "got $line"; echo "$SERVICE_ENABLED $SERVICE_ENDPOINT $SERVICE_RUN_ID"; echo oops >&2; printf "10%%\\r50%%\\r100%%"; exit 3'
  const ended = await run(['run', '-p', 'becomes', '--', 'sh', '-c', script], { stdin: 'hello\n' })
  t.is(ended.code, 3)
  const runId = runIdOf(ended.stderr)
  t.is(ended.stdout, `got hello\n1 ${forge.url}/api/ingest ${runId}\n10%\r50%\r100%`)
  t.regex(ended.stderr, /^oops$/m)

  await until('four lines', 15_000, async () => (await logOf(forge, runId)).length === 4)
  const lines = await logOf(forge, runId)
  t.deepEqual(
    lines.filter(line => line.stream === 'stdout').map(line => line.text),
    ['got hello', `1 ${forge.url}/api/ingest ${runId}`, '100%'],
  )
  t.deepEqual(
    lines.filter(line => line.stream === 'stderr').map(line => line.text),
    ['oops'],
  )
  const shown = await run(['logs', '-f', 'becomes-1', '--json'])
  t.is(shown.code, 1, 'the run has failed')
  const frames = shown.stdout
    .trimEnd()
    .split('\n')
    .map(text => JSON.parse(text))
  t.deepEqual(frames.at(-1), {
    type: 'eof',
    run_id: runId,
    state: 'failed',
    why: 'exit code 3: oops',
  })
  t.is(frames.length, 5)
})

test('a signal is forwarded to the command, and its run is reported as failed', async t => {
  const forge = await shared()
  const { run } = await commandLine(t, signedIn(forge))
  const script = 'trap "echo bye; exit 7" TERM; echo ready; while :; do sleep 0.05; done'
  const ended = await run(['run', '-p', 'signalled', '--', 'sh', '-c', script], {
    onStdout(text, kill) {
      if (text === 'ready\n') kill('SIGTERM')
    },
  })
  t.is(ended.code, 7)
  t.is(ended.stdout, 'ready\nbye\n')
  t.is((await run(['logs', '-f', runIdOf(ended.stderr)])).code, 1)
})

async function withServerDown(t: ExecutionContext) {
  t.timeout(patient(240_000))
  const forge = await startForge(t)
  const line = await commandLine(t, signedIn(forge))
  await forge.stop()
  return { forge, ...line }
}

test.serial(
  'a command that begins while the server is down is recorded, and its run created when it is back',
  async t => {
    const { forge, run, home } = await withServerDown(t)
    const script = [
      'import sys, forge',
      'forge.init({"lr": 0.1}, monitor_hardware=False)',
      'for step in range(1200): forge.log({"loss": float(step)}, step)',
      'print("recorded", flush=True)',
      'sys.stdin.readline()',
      'for step in range(1200, 1500): forge.log({"loss": float(step)}, step)',
      'sys.exit(0 if forge.flush(150) else 9)',
    ].join('\n')
    let restarted: Promise<void> | null = null
    const ended = await run(['run', '-p', 'demo', '--', 'python3', '-c', script], {
      env: { PYTHONPATH: pythonClient },
      stdin: '\n',
      onStdout() {
        restarted ??= forge.start()
      },
    })
    await restarted
    t.is(ended.code, 0, ended.stderr)
    t.regex(ended.stderr, /^forge: .*ECONNREFUSED.*; reports wait on disk/m)
    if (/send with forge sync/.test(ended.stderr)) t.is((await run(['sync'])).code, 0)
    const { body: rows } = await forge.call<{ run_id: string }[]>('GET', '/api/runs')
    t.is(rows.length, 1)
    const runId = rows[0]?.run_id ?? ''
    await until('the run has every report', 30_000, async () => {
      const { body } = await forge.call<Shown>('GET', `/api/runs/${runId}`)
      return body.state === 'succeeded' && body.counts.points === 1500
    })
    await until('its output', 15_000, async () => {
      const lines = await logOf(forge, runId)
      return (
        lines
          .filter(line => line.stream === 'stdout')
          .map(line => line.text)
          .join() === 'recorded'
      )
    })
    t.deepEqual(await readdir(join(home, '.forge/spool')), [])
  },
)

test.serial('unsent reports are kept after the command ends, and sent by forge sync', async t => {
  const { forge, run, home } = await withServerDown(t)
  const script = 'echo "$SERVICE_ENABLED"; echo oops >&2; exit 5'
  const ended = await run(['run', '-p', 'demo', '--', 'sh', '-c', script])
  t.is(ended.code, 5)
  t.is(ended.stdout, '1\n')
  t.regex(ended.stderr, /^forge: 5 reports kept in .*; send with forge sync$/m)
  t.regex(ended.stderr, /^forge: local_\w+ · failed · exit code 5$/m)
  t.is((await run(['sync'])).code, 6)
  await forge.start()
  const sent = await run(['sync'])
  t.is(sent.code, 0, sent.stdout)
  t.regex(sent.stdout, /^forge: all sent/m)
  const { run_id: runId } = await until('one run that failed', 15_000, async () => {
    const { body } = await forge.call<Row[]>('GET', '/api/runs')
    return body.length === 1 && body[0]?.state === 'failed' && body[0]
  })
  await until('its output', 15_000, async () => (await logOf(forge, runId)).length === 2)
  t.deepEqual(await readdir(join(home, '.forge/spool')), [])
})

test.serial('the last line says the state, the points, the exit code and the address', async t => {
  const forge = await shared()
  const { run } = await commandLine(t, signedIn(forge))
  const code = 'import forge; forge.init(monitor_hardware=False); forge.log({"a": 1, "b": 2})'
  const ended = await run(['run', '-p', 'last', '--', 'python3', '-c', code], {
    env: { PYTHONPATH: pythonClient },
  })
  t.is(ended.code, 0, ended.stderr)
  const url = `${forge.url}/runs/${runIdOf(ended.stderr)}`
  const last = ended.stderr.trimEnd().split('\n').at(-1)
  t.is(last, `forge: last-1 · succeeded · 2 points · exit code 0  ${url}`)
})

test.serial('the last line of a failed command says why, as does forge show', async t => {
  const forge = await shared()
  const { run } = await commandLine(t, signedIn(forge))
  const ended = await run(['run', '-p', 'why', '--', 'python3', '-c', 'raise ValueError("bad lr")'])
  t.is(ended.code, 1)
  const last = ended.stderr.trimEnd().split('\n').at(-1)
  t.regex(String(last), / · failed · 0 points · exit code 1: ValueError: bad lr {2}http/)
  const reported = await run(
    ['run', '-p', 'why', '--', 'python3', '-c', 'import forge; forge.init(); raise KeyError("x")'],
    { env: { PYTHONPATH: pythonClient } },
  )
  t.regex(reported.stderr, / · failed · .*exit code 1 \(KeyError: 'x'\) {2}http/)

  const shown = await run(['show', 'why-1'])
  t.regex(shown.stdout, /\n +why +(exit code 1: )?ValueError: bad lr.*\n/)
  t.regex(shown.stdout, /\n +exit code +1\n/)
  t.regex(shown.stdout, /last words\n(.*\n)* +ValueError: bad lr\n/)
  const record = JSON.parse((await run(['show', 'why-1', '--json'])).stdout).run
  t.regex(record.why, /ValueError: bad lr/)
  t.is(record.exit_code, 1)
})

test.serial('a temporary response by a proxy loses neither a line nor the end', async t => {
  t.timeout(patient(240_000))
  const forge = await shared()
  const proxy = await proxyBefore(t, forge.url)
  const { run } = await commandLine(t, { FORGE_HOST: proxy.url, FORGE_TOKEN: forge.token })
  let before = 0
  const script = 'echo one; read line; echo two'
  const statuses = [404, 302, 401, 200]
  for (const status of statuses) {
    let isOver: Promise<void> | null = null
    before = proxy.interjected()
    const ended = await run(['run', '-p', 'proxied', '--', 'sh', '-c', script], {
      stdin: 'go\n',
      onStdout() {
        if (isOver !== null) return
        proxy.interject({ status })
        isOver = until(`${status}`, 20_000, () => proxy.interjected() > before).then(() =>
          proxy.interject(null),
        )
      },
    })
    await isOver
    t.is(ended.code, 0, ended.stderr)
    t.regex(ended.stderr, /· succeeded · .*exit code 0 /)
    const runId = runIdOf(ended.stderr)
    await until('both lines', 15_000, async () => (await logOf(forge, runId)).length === 2)
  }
})

test('output written during an outage arrives afterwards, each line once', async t => {
  t.timeout(patient(240_000))
  const forge = await startForgeProcess(t)
  const { run } = await commandLine(t, signedIn(forge))
  const script = 'i=0; while [ $i -lt 60 ]; do i=$((i+1)); echo line $i; sleep 0.05; done'
  let restarted: Promise<void> | null = null
  const ended = await run(['run', '-p', 'demo', '--', 'sh', '-c', script], {
    onStdout(text) {
      if (text.includes('line 10\n')) restarted ??= forge.kill().then(() => forge.start())
    },
  })
  await restarted
  t.is(ended.code, 0)
  // A restart may take longer than the command line waits.
  if (/send with forge sync/.test(ended.stderr)) t.is((await run(['sync'])).code, 0)
  const wanted = Array.from({ length: 60 }, (_, at) => `line ${at + 1}`)
  const runId = runIdOf(ended.stderr)
  const hasAll = async () => (await logOf(forge, runId)).length >= wanted.length
  await until('all lines', 30_000, hasAll)
  t.deepEqual(
    (await logOf(forge, runId)).map(line => line.text),
    wanted,
  )
})

test('a missing command exits with the code that shells use, and its run fails', async t => {
  const forge = await shared()
  const { run } = await commandLine(t, signedIn(forge))
  const ended = await run(['run', '-p', 'missing', '--json', '--', 'no-such-command-here'])
  t.is(ended.code, 127)
  const end = JSON.parse(ended.stderr.trimEnd().split('\n').at(-1) ?? '')
  t.is(end.event, 'failed')
  t.is(end.exit_code, 127)
})

test.serial('forge stop ends the command of an external run, and the run as stopped', async t => {
  t.timeout(patient(240_000))
  const forge = await shared()
  const { run } = await commandLine(t, signedIn(forge))
  const script = 'trap "echo saved; exit 0" TERM; echo ready; while :; do sleep 0.05; done'
  let stopped: Promise<Ended> | null = null
  const ended = await run(['run', '-p', 'stopped', '--', 'sh', '-c', script], {
    onStdout() {
      stopped ??= run(['stop', 'stopped-1', '--reason', 'enough'])
    },
  })
  t.is(ended.code, 0, ended.stderr)
  t.is(ended.stdout, 'ready\nsaved\n')
  t.regex(ended.stderr, /^forge: stopped-1 · stopped · .*exit code 0 /m)
  const answer = await (stopped as Promise<Ended> | null)
  t.is(answer?.code, 0, answer?.stderr)
  t.is(answer?.stdout, `${runIdOf(ended.stderr)} stopped\n`)
  t.is((await run(['stop', 'stopped-1'])).code, 5)
})

test.serial('forge stop --force ends a run whose code is gone', async t => {
  const forge = await shared()
  const { run } = await commandLine(t, signedIn(forge))
  const gone = await createRun(forge, 'forced')
  const stopped = await run(['stop', gone.short_id, '--force'])
  t.is(stopped.code, 0, stopped.stderr)
  t.is(stopped.stdout, `${gone.run_id} stopped\n`)
  t.is((await run(['stop', 'forced-99'])).code, 3)
})
