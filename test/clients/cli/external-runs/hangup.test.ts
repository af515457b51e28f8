import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { commandLine } from '../../../servers/command-line.ts'
import { compiled } from '../../../servers/compiled.ts'
import { type Forge, sharedForge } from '../../../servers/forge.ts'
import { patient } from '../../../servers/patience.ts'
import { shell } from '../../../servers/shell.ts'
import { until } from '../../../servers/until.ts'

const theForge = sharedForge()
const launcher = join(import.meta.dirname, '../../../../clients/cli/forge.sh')
const terminal = join(import.meta.dirname, '../../../servers/in-terminal.py')

async function signedIn(t: ExecutionContext) {
  t.timeout(patient(240_000))
  const forge = await theForge()
  const env = { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token }
  return { forge, env, ...(await commandLine(t, env)) }
}

test('a terminal that closes ends the command and its run, however often it signals', async t => {
  const { forge, env, home } = await signedIn(t)
  const command = `echo $$ > pid; exec "$FORGE" run -p demo -- sh -c 'echo ready; exec sleep 600'`
  const child = spawn('python3', [terminal, '80', '24', 'sh', '-c', command], {
    cwd: home,
    env: {
      ...{ PATH: process.env.PATH, HOME: home, NODE_COMPILE_CACHE: compiled, FORGE: launcher },
      ...env,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let shown = ''
  child.stdout.setEncoding('utf8').on('data', text => {
    shown += text
  })
  await until('the command runs', 90_000, () => shown.includes('ready'))
  child.kill('SIGKILL')
  const pid = Number(await readFile(join(home, 'pid'), 'utf8'))
  await until('the command line has ended', 60_000, () => !signalled(pid))
  await ends(t, forge, shown, { state: 'failed', exit_code: 129 })
})

/** Waits until the run that the output names has ended. */
async function ends(t: ExecutionContext, forge: Forge, shown: string, how: object) {
  const runId = /run_\w+/.exec(shown)?.[0] ?? ''
  const body = await until('the run has ended', 30_000, async () => {
    const read = await forge.call<{ state: string }>('GET', `/api/runs/${runId}`)
    return read.body.state !== 'running' && read.body
  })
  t.like(body, how)
}

/** Whether the process was still there to be signalled. */
function signalled(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGHUP')
  } catch {
    return false
  }
}

test('under nohup neither the command nor its run ends with the terminal', async t => {
  const line = await signedIn(t)
  const command = `echo $$ > inner; while [ ! -e go ]; do sleep 0.1; done; echo done; exit 4`
  const { code, stdout } = await shell(
    line,
    `nohup "$FORGE" run -p demo -- sh -c '${command}' 2> said &
     until [ -s inner ]; do sleep 0.1; done
     kill -HUP $! $(cat inner); touch go; wait $!`,
  )
  t.is(code, 4)
  t.is(stdout, 'done\n')
  const said = await readFile(join(line.home, 'said'), 'utf8')
  await ends(t, line.forge, said, { state: 'failed', exit_code: 4 })
})

/** Without a server and a folder for unsent reports. */
const offline = 'export FORGE_HOST=http://127.0.0.1:9 FORGE_SPOOL_DIR=/dev/null'

test('under nohup a command that cannot be reported does not end with the terminal either', async t => {
  const line = await signedIn(t)
  const command = 'echo $$ > inner; while [ ! -e go ]; do sleep 0.1; done; echo done; exit 4'
  const { code, stdout } = await shell(
    line,
    `${offline}
     nohup "$FORGE" run -p demo -- sh -c '${command}' 2> said &
     until [ -s inner ]; do sleep 0.1; done
     kill -HUP $! $(cat inner); touch go; wait $!`,
  )
  const said = await readFile(join(line.home, 'said'), 'utf8')
  t.regex(said, /the command runs without reporting/)
  t.is(code, 4, said)
  t.is(stdout, 'done\n')
})

test('under nohup a program that is missing or not executable is named as elsewhere', async t => {
  const line = await signedIn(t)
  for (const [program, code] of [
    ['no-such-program', 127],
    ['./not-executable', 126],
  ] as const) {
    const run = `"$FORGE" run -p demo -- ${program}`
    const begin = `${offline}; touch not-executable;`
    const plain = await shell(line, `${begin} ${run}`)
    const under = await shell(line, `${begin} nohup ${run}`)
    t.is(plain.code, code, plain.stderr)
    t.is(under.code, code, under.stderr)
    const fault = /^(?!forge: |nohup: ).+$/m
    t.true(fault.exec(plain.stderr)?.[0].startsWith(`${program}: `), plain.stderr)
    t.is(fault.exec(under.stderr)?.[0], fault.exec(plain.stderr)?.[0])
  }
})
