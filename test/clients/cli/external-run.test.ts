import test from 'ava'
import { commandLine } from '../../servers/command-line.ts'
import { type Forge, startForge } from '../../servers/forge.ts'
import { until } from '../../servers/until.ts'

type Line = { seq: number; text: string; stream: string }

const signedIn = (forge: Forge) => ({ FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
const runIdOf = (stderr: string) => /run_\w+/.exec(stderr)?.[0] ?? ''

async function logOf(forge: Forge, runId: string): Promise<Line[]> {
  const { body } = await forge.call<Line[]>('GET', `/api/runs/${runId}/logs?limit=500`)
  return body
}

test('a command becomes an external run: output, variables, end and exit code', async t => {
  const forge = await startForge(t)
  const { run } = await commandLine(t, signedIn(forge))
  const script =
    'read line; echo "got $line"; echo "$SERVICE_ENABLED $SERVICE_ENDPOINT $SERVICE_RUN_ID"; echo oops >&2; printf "10%%\\r50%%\\r100%%"; exit 3'
  const ended = await run(['run', '-p', 'demo', '--', 'sh', '-c', script], { stdin: 'hello\n' })
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
  const shown = await run(['logs', '-f', 'demo-1', '--json'])
  t.is(shown.code, 1, 'the run has failed')
  const frames = shown.stdout
    .trimEnd()
    .split('\n')
    .map(text => JSON.parse(text))
  t.deepEqual(frames.at(-1), { type: 'eof', run_id: runId, state: 'failed' })
  t.is(frames.length, 5)
})

test('a signal is forwarded to the command, and its run is reported as failed', async t => {
  const forge = await startForge(t)
  const { run } = await commandLine(t, signedIn(forge))
  const script = 'trap "echo bye; exit 7" TERM; echo ready; while :; do sleep 0.05; done'
  const ended = await run(['run', '-p', 'demo', '--', 'sh', '-c', script], {
    onStdout(text, kill) {
      if (text === 'ready\n') kill('SIGTERM')
    },
  })
  t.is(ended.code, 7)
  t.is(ended.stdout, 'ready\nbye\n')
  t.is((await run(['logs', '-f', runIdOf(ended.stderr)])).code, 1)
})

test('a command runs even if the server is unreachable', async t => {
  const { run } = await commandLine(t, { FORGE_HOST: 'http://127.0.0.1:9', FORGE_TOKEN: 'x' })
  const script = 'echo "enabled $SERVICE_ENABLED"; exit 5'
  const ended = await run(['run', '-p', 'demo', '--', 'sh', '-c', script])
  t.is(ended.code, 5)
  t.is(ended.stdout, 'enabled 0\n')
  t.regex(ended.stderr, /runs without reporting/)
})

test('output written while the server is down arrives when it is back, each line once', async t => {
  t.timeout(240_000)
  const forge = await startForge(t)
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
  const forge = await startForge(t)
  const { run } = await commandLine(t, signedIn(forge))
  const ended = await run(['run', '-p', 'demo', '--json', '--', 'no-such-command-here'])
  t.is(ended.code, 127)
  const end = JSON.parse(ended.stderr.trimEnd().split('\n').at(-1) ?? '')
  t.is(end.event, 'failed')
  t.is(end.exit_code, 127)
})
