import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { parse } from 'yaml'
import { asExecutor, endedWell } from '../../../servers/as-executor.ts'
import { commandLine } from '../../../servers/command-line.ts'
import { patient } from '../../../servers/patience.ts'
import { forgeWithSpare } from '../../../servers/spare.ts'
import { until } from '../../../servers/until.ts'

type Scene = Awaited<ReturnType<typeof begin>>

async function begin(t: ExecutionContext) {
  // The test acts as the executor, so that each state lasts for as long as the test needs it.
  const forge = await forgeWithSpare(t)
  const line = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const submit = (project: string, ...more: string[]) => {
    const spare = ['--set', 'spec.resources.profile=spare']
    return line.run(['submit', '--recipe', 'digits', '--project', project, ...spare, ...more])
  }
  const executor = asExecutor(forge.pool)
  const runIdOf = async (shortId: string) =>
    (await forge.call<{ run_id: string }>('GET', `/api/jobs/${shortId}`)).body.run_id
  return {
    forge,
    ...line,
    submit,
    executor,
    /** The newest attempt runs. */
    async start(shortId: string, attempt = 1) {
      const run_id = await runIdOf(shortId)
      await executor.schedule(run_id, [])
      await executor.executorRunning(run_id, attempt, new Date().toISOString())
      return run_id
    },
    stateOf: async (shortId: string) =>
      (await forge.call<{ state: string }>('GET', `/api/jobs/${shortId}`)).body.state,
  }
}

const jsonOf = (text: string) => JSON.parse(text)

/** Pause waits until the job has ended, and resume until it starts. */
async function pausesAndResumes(
  t: ExecutionContext,
  { run, submit, executor, start, stateOf }: Scene,
) {
  await submit('one')
  const run_id = await start('one-1')
  const endIt = async () => {
    await until('it is pausing', 60_000, async () => (await stateOf('one-1')) === 'pausing')
    await executor.exited(run_id, 1, endedWell())
  }
  const [paused] = await Promise.all([run(['pause', 'one-1', '--grace', '60']), endIt()])
  t.is(paused.code, 0, paused.stderr)
  t.is(paused.stdout, `${run_id} paused\n`)
  t.regex(paused.stderr, /one-1 is pausing, killed after [\d m]+s if need be\n/)
  t.regex(paused.stderr, /when it is resumed, it starts from the beginning/)
  t.is((await run(['pause', 'one-1', '--json'])).code, 0, 'it is already paused')

  const startIt = async () => {
    await until('it is queued', 60_000, async () => (await stateOf('one-1')) === 'queued')
    await start('one-1', 2)
  }
  const [resumed] = await Promise.all([run(['resume', 'one-1', '--json']), startIt()])
  t.is(resumed.code, 0, resumed.stderr)
  t.like(jsonOf(resumed.stdout), { run_id, state: 'starting', attempt: 2, resume_from: null })
  t.is((await run(['resume', 'one-1'])).code, 5, 'it runs')
}

/** Several jobs are paused at once without waiting, and failures are reported. */
async function pausesSeveral(t: ExecutionContext, { run, submit }: Scene) {
  await submit('two')
  await submit('two')
  const mixed = await run(['pause', 'two-1', 'two-2', 'two-99', '--no-wait'])
  t.is(mixed.code, 3)
  t.regex(mixed.stderr, /1 of 3 were not paused\n.*two-99: No such job/)
  t.regex(mixed.stdout, /^run_\w+ paused\nrun_\w+ paused\n$/)
  const resumed = await run(['resume', 'two-1', 'two-2', '--no-wait'])
  t.is(resumed.code, 0, resumed.stderr)
  t.is((await run(['pause', 'two-1', '--grace', 'soon'])).code, 2)
}

/** A clone is YAML to edit, without default values, and can be submitted. */
async function clones(t: ExecutionContext, { run, submit, home }: Scene) {
  await submit('three', '--param', 'lr=0.25')
  const cloned = await run(['clone', 'three-1'])
  t.is(cloned.code, 0, cloned.stderr)
  const spec = parse(cloned.stdout)
  t.deepEqual(Object.keys(spec).sort(), ['api', 'lock', 'metadata', 'spec'])
  t.deepEqual(spec.spec, { params: { lr: 0.25 }, resources: { profile: 'spare' } })
  const file = join(home, 'job.yaml')
  t.is((await run(['clone', 'three-1', '-o', file])).code, 0)
  t.deepEqual(parse(await readFile(file, 'utf8')), spec)
  t.is((await run(['clone', 'three-1', '-o', file])).code, 2, 'it already exists')
  const again = await run(['submit', '-f', '-', '--name', 'again'], { stdin: cloned.stdout })
  t.is(again.code, 0, again.stderr)
  t.is((await run(['clone', 'three-99'])).code, 3)
}

/** Retry submits an ended job again, and set changes a waiting job. */
async function retriesAndSets(t: ExecutionContext, { run, submit }: Scene) {
  await submit('four')
  t.is((await run(['retry', 'four-1'])).code, 5, 'it has not ended')
  await run(['stop', 'four-1', '--force'])
  const retried = await run(['retry', 'four-1', '--env', 'NCCL_DEBUG=WARN'])
  t.is(retried.code, 0, retried.stderr)
  t.regex(retried.stdout, /^run_\w+\n$/)
  t.regex(retried.stderr, /four-2 repeats four-1: queued; it starts from the beginning/)
  const set = await run(['set', 'four-2', '--priority', '-7', '--tag', 'a', '--tag', 'b', '--json'])
  t.is(set.code, 0, set.stderr)
  t.like(jsonOf(set.stdout), { priority: -7, tags: ['a', 'b'], state: 'queued' })
  t.is((await run(['set', 'four-2'])).code, 2)
  t.is((await run(['set', 'four-1', '--priority', '3'])).code, 5)
}

/** Completion offers commands, options and the runs that a command accepts. */
async function completes(t: ExecutionContext, { run, submit }: Scene) {
  await submit('five')
  await submit('five')
  await run(['pause', 'five-2', '--no-wait'])
  const words = async (...typed: string[]) =>
    (await run(['__complete', '--', ...typed])).stdout.split('\n').filter(Boolean)
  t.deepEqual(await words('resu'), ['resume'])
  t.deepEqual(await words('admin', 'us'), ['users'])
  t.true((await words('pause', '--')).includes('--grace'))
  // A completion gives up on a slow server, so each is requested until it arrives.
  const comes = (expected: string, ...typed: string[]) =>
    until(`${typed.join(' ')} gives ${expected}`, 120_000, async () =>
      (await words(...typed)).sort().join(' ').startsWith(expected),
    )
  t.true(await comes('five-1 five-2', 'show', 'five'))
  t.true(await comes('five-2', 'resume', ''))
  t.true(await comes('five-1', 'pause', '--reason', 'five', 'five-'))
  t.true(await comes('run_', 'show', 'run_'))
  t.deepEqual(await words('pause', '--reason', ''), [], 'a value is next')
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout } = await run(['completion', shell])
    t.is(code, 0)
    t.true(stdout.includes('forge __complete'))
  }
  const away = await run(['__complete', '--', 'show', ''], {
    env: { FORGE_HOST: 'http://127.0.0.1:9' },
  })
  t.deepEqual({ ...away }, { code: 0, stdout: '', stderr: '' }, 'silent without a server')
}

test('jobs are paused, resumed, retried, cloned, changed and completed', async t => {
  t.timeout(patient(600_000))
  const scene = await begin(t)
  for (const step of [pausesAndResumes, pausesSeveral, clones, retriesAndSets, completes])
    await step(t, scene)
})
