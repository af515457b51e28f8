import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { until } from '../../servers/until.ts'

const root = join(import.meta.dirname, '../../..')

type Started = { child: ChildProcess; output: () => string; url: string; ms: number }

/** Runs `npm start` like a person, with the embedded database, until it prints its address. */
async function npmStart(t: ExecutionContext, dataDir: string): Promise<Started> {
  const began = performance.now()
  const child = spawn('npm', ['start'], {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      SERVICE_DATA_DIR: dataDir,
      SERVICE_PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.teardown(() => child.kill('SIGTERM'))
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', chunk => {
      output += chunk
    })
  const url = await until('the server says where it serves', 60_000, () => {
    if (child.exitCode !== null) throw new Error(`npm start ended:\n${output}`)
    return /serves at (\S+)/.exec(output)?.[1]
  })
  return { child, output: () => output, url, ms: performance.now() - began }
}

async function stop({ child }: Started): Promise<number | null> {
  const ended = new Promise<number | null>(resolve => child.once('exit', resolve))
  child.kill('SIGTERM')
  return ended
}

test('npm start shows the first password once, keeps data, and a signal to npm stops everything', async t => {
  const dataDir = await mkdtemp(join(tmpdir(), 'forge-start-'))
  t.teardown(() => rm(dataDir, { recursive: true, force: true }))
  const first = await npmStart(t, dataDir)
  const password = /password (\S+)/.exec(first.output())?.[1]
  t.truthy(password)
  const login = (url: string) =>
    fetch(`${url}/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'admin', password }),
    })
  t.is((await login(first.url)).status, 200)
  await stop(first)
  await t.throwsAsync(fetch(`${first.url}/healthz`), undefined, 'the server still answers')

  const second = await npmStart(t, dataDir)
  t.notRegex(second.output(), /password \S{10}/)
  t.is((await login(second.url)).status, 200)
  t.log(`first start ${Math.round(first.ms)} ms, second ${Math.round(second.ms)} ms, npm included`)
  await stop(second)
  await until('the database has stopped too', 10_000, async () => {
    const probe = spawn('pgrep', ['-f', dataDir], { stdio: 'ignore' })
    return (await new Promise(resolve => probe.once('exit', resolve))) === 1
  })
})

test('an invalid configuration is reported in full, and nothing starts', async t => {
  const child = spawn(process.execPath, [join(root, 'main.ts')], {
    env: {
      PATH: process.env.PATH,
      SERVICE_PORT: 'x',
      SERVICE_ROLES: 'cook',
      SERVICE_NONSENSE: '1',
    },
  })
  let said = ''
  child.stderr.on('data', chunk => {
    said += chunk
  })
  t.is(await new Promise(resolve => child.once('exit', resolve)), 2)
  for (const part of ['SERVICE_PORT=x', 'cook', 'SERVICE_NONSENSE'])
    t.true(said.includes(part), part)
})
