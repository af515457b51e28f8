import { execFile, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import type { Ended } from '../../../servers/command-line.ts'
import { patient } from '../../../servers/patience.ts'

const programs = join(import.meta.dirname, '../../../../clients/cli/demo')

/** Runs the demonstration without a terminal; interrupts it once its output holds `until`, or stderr `untilNote`. */
function demonstrate(
  home: string,
  args: string[],
  {
    until,
    untilNote,
    program = 'demo.ts',
  }: { until?: string; untilNote?: string; program?: string } = {},
): Promise<Ended> {
  // Other tests build the same environments, in this folder if there is one.
  const environments = process.env.FORGE_TEST_ENVIRONMENTS
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    ...(environments && { SERVICE_LOCAL_ENVIRONMENTS: environments }),
  }
  const child = spawn(
    process.execPath,
    [join(programs, program), '--data', join(home, 'data'), ...args],
    { env },
  )
  let [stdout, stderr] = ['', '']
  let isInterrupted = false
  child.stdout.on('data', chunk => {
    stdout += chunk
    if (until === undefined || isInterrupted || !stdout.includes(until)) return
    isInterrupted = true
    child.kill('SIGINT')
  })
  child.stderr.on('data', chunk => {
    stderr += chunk
    if (untilNote === undefined || isInterrupted || !stderr.includes(untilNote)) return
    isInterrupted = true
    child.kill('SIGTERM')
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', code => resolve({ code, stdout, stderr }))
  })
}

const isReady = (url: string) =>
  fetch(`${url}/api/readyz`).then(
    answer => answer.ok,
    () => false,
  )

test('the demonstration trains digits; after an interrupt it can be followed again to its end', async t => {
  t.timeout(patient(400_000), 'the first time builds the environment of the recipe')
  const home = await mkdtemp(join(tmpdir(), 'forge-demo-'))
  t.teardown(() => rm(home, { recursive: true, force: true }))

  const left = await demonstrate(home, [], { until: ' running ' })
  t.is(left.code, 130, left.stderr)
  t.regex(left.stderr, /npm run demo -- --attach demo-1/)
  const url = /http:\/\/localhost:\d+/.exec(left.stderr)?.[0] ?? ''
  t.false(await isReady(url), 'the server has stopped')
  const password = join(home, 'data/admin-password')
  t.is((await stat(password)).mode & 0o777, 0o600)

  const ended = await demonstrate(home, ['--attach', 'demo-1'])
  t.is(ended.code, 0, ended.stdout + ended.stderr)
  t.true(ended.stderr.includes(url), 'the address the run reports to')
  t.true(Number(/test\/accuracy +([\d.]+)/.exec(ended.stdout)?.[1]) >= 0.95, ended.stdout)
  t.regex(ended.stdout, /checkpoint \(npz, /)
  t.regex(ended.stdout, /http:\/\/localhost:\d+\/runs\/run_\w+\n$/)
  t.false(ended.stdout.includes((await readFile(password, 'utf8')).trim()))
  t.false(await isReady(url))
})

test('demonstration data that is interrupted leaves no server running', async t => {
  t.timeout(patient(200_000))
  const home = await mkdtemp(join(tmpdir(), 'forge-demo-'))
  t.teardown(() => rm(home, { recursive: true, force: true }))
  const args = ['--once', '--runs', '1']
  const { stderr } = await demonstrate(home, args, {
    ...{ program: 'data.ts', untilNote: 'four jobs' },
  })
  t.regex(stderr, /four jobs/, 'it had begun')
  const note = await stat(join(home, 'data/server.json')).catch(() => null)
  t.is(note, null, stderr)
  const port = (await readFile(join(home, 'data/port'), 'utf8')).trim()
  t.regex(port, /^\d+$/)
  await t.throwsAsync(fetch(`http://localhost:${port}/healthz`), { message: 'fetch failed' })
})

test('the data of the demonstration holds a model that was trained, deployed, promoted and asked', async t => {
  t.timeout(patient(400_000), 'the first time builds the environments of recipe and template')
  const home = await mkdtemp(join(tmpdir(), 'forge-demo-'))
  t.teardown(() => rm(home, { recursive: true, force: true }))
  const { stderr } = await demonstrate(home, ['--once', '--runs', '3'], {
    ...{ program: 'data.ts', untilNote: 'four jobs' },
  })
  t.regex(stderr, /revision 2 of bard is promoted, after 40 requests/)
  t.notRegex(stderr, /incomplete/)
})

test('a mistyped option of the demonstration is reported with all valid ones', async t => {
  const ended = await demonstrate('/nonexistent', ['--kep'])
  t.is(ended.code, 2)
  t.regex(ended.stderr, /--keep +leave the server running/)
})

test('the demonstration of serving promotes and rolls back under load without a failed request', async t => {
  t.timeout(patient(400_000), 'the first time builds the environments of recipe and template')
  const home = await mkdtemp(join(tmpdir(), 'forge-demo-'))
  t.teardown(() => rm(home, { recursive: true, force: true }))
  const args = ['--steps', '100', '--callers', '2']
  const { code, stdout, stderr } = await demonstrate(home, args, { program: 'serve.ts' })
  t.is(code, 0, stdout + stderr)
  t.regex(stdout, /of them failed +0\n/)
  t.regex(stdout, /requests while revisions changed +[1-9]/)
  t.is(stdout.match(/^by rev_\w+ +[1-9]/gm)?.length, 2, 'both revisions answered')
  t.regex(stdout, /is refused with 401; bard-of-demo-1 is deleted/)
  t.regex(stderr, /first token after \d+ ms/)
  const processes = (await promisify(execFile)('ps', ['-eo', 'args'])).stdout
  t.false(processes.includes(home), 'no engine is left')
  const wrong = await demonstrate(home, ['--callers', '0'], { program: 'serve.ts' })
  t.is(wrong.code, 2)
})
