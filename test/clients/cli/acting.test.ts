import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { parse } from 'yaml'
import { asExecutor, endedWell } from '../../servers/as-executor.ts'
import { commandLine } from '../../servers/command-line.ts'
import { startForge } from '../../servers/forge.ts'
import { until } from '../../servers/until.ts'

async function begin(t: Parameters<typeof startForge>[0]) {
  // The test acts as the executor, so that each state lasts for as long as it is looked at.
  const forge = await startForge(t, { SERVICE_ROLES: 'command-api,relay,projector,query-api' })
  await forge.call('PUT', '/api/admin/profiles/spare', {
    body: { series: 'X', gpus_per_node: 1, executor: 'local' },
  })
  const line = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const submit = (...more: string[]) => {
    const spare = ['--set', 'spec.resources.profile=spare']
    return line.run(['submit', '--recipe', 'digits', '--project', 'demo', ...spare, ...more])
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

test('pause waits until the job has ended, and resume until it starts', async t => {
  const { run, submit, executor, start, stateOf } = await begin(t)
  await submit()
  const run_id = await start('demo-1')
  const endIt = async () => {
    await until('it is pausing', 60_000, async () => (await stateOf('demo-1')) === 'pausing')
    await executor.exited(run_id, 1, endedWell())
  }
  const [paused] = await Promise.all([run(['pause', 'demo-1', '--grace', '60']), endIt()])
  t.is(paused.code, 0, paused.stderr)
  t.is(paused.stdout, `${run_id} paused\n`)
  t.regex(paused.stderr, /demo-1 is pausing, killed after (60|5\d) s if need be\n/)
  t.regex(paused.stderr, /when it is resumed, it begins from the start/)
  t.is((await run(['pause', 'demo-1', '--json'])).code, 0, 'it is paused already')

  const startIt = async () => {
    await until('it is queued', 60_000, async () => (await stateOf('demo-1')) === 'queued')
    await start('demo-1', 2)
  }
  const [resumed] = await Promise.all([run(['resume', 'demo-1', '--json']), startIt()])
  t.is(resumed.code, 0, resumed.stderr)
  t.like(jsonOf(resumed.stdout), { run_id, state: 'starting', attempt: 2, resume_from: null })
  t.is((await run(['resume', 'demo-1'])).code, 5, 'it runs')
})

test('several jobs are paused at once without waiting, and what was not is told', async t => {
  const { run, submit } = await begin(t)
  await submit()
  await submit()
  const mixed = await run(['pause', 'demo-1', 'demo-2', 'demo-99', '--no-wait'])
  t.is(mixed.code, 3)
  t.regex(mixed.stderr, /1 of 3 were not paused\n.*demo-99: No such job/)
  t.regex(mixed.stdout, /^run_\w+ paused\nrun_\w+ paused\n$/)
  const resumed = await run(['resume', 'demo-1', 'demo-2', '--no-wait'])
  t.is(resumed.code, 0, resumed.stderr)
  t.is((await run(['pause', 'demo-1', '--grace', 'soon'])).code, 2)
})

test('a clone is YAML to edit, without what has a default, and can be submitted', async t => {
  const { run, submit, home } = await begin(t)
  await submit('--param', 'lr=0.25')
  const cloned = await run(['clone', 'demo-1'])
  t.is(cloned.code, 0, cloned.stderr)
  const spec = parse(cloned.stdout)
  t.deepEqual(Object.keys(spec).sort(), ['api', 'lock', 'metadata', 'spec'])
  t.deepEqual(spec.spec, { params: { lr: 0.25 }, resources: { profile: 'spare' } })
  const file = join(home, 'job.yaml')
  t.is((await run(['clone', 'demo-1', '-o', file])).code, 0)
  t.deepEqual(parse(await readFile(file, 'utf8')), spec)
  t.is((await run(['clone', 'demo-1', '-o', file])).code, 2, 'it is there already')
  const again = await run(['submit', '-f', '-', '--name', 'again'], { stdin: cloned.stdout })
  t.is(again.code, 0, again.stderr)
  t.is((await run(['clone', 'demo-99'])).code, 3)
})

test('retry submits an ended job again, and set changes one that waits', async t => {
  const { run, submit } = await begin(t)
  await submit()
  t.is((await run(['retry', 'demo-1'])).code, 5, 'it has not ended')
  await run(['stop', 'demo-1', '--force'])
  const retried = await run(['retry', 'demo-1', '--env', 'NCCL_DEBUG=WARN'])
  t.is(retried.code, 0, retried.stderr)
  t.regex(retried.stdout, /^run_\w+\n$/)
  t.regex(retried.stderr, /demo-2 repeats demo-1: queued; it begins from the start/)
  const set = await run(['set', 'demo-2', '--priority', '-7', '--tag', 'a', '--tag', 'b', '--json'])
  t.is(set.code, 0, set.stderr)
  t.like(jsonOf(set.stdout), { priority: -7, tags: ['a', 'b'], place: { position: 1 } })
  t.is((await run(['set', 'demo-2'])).code, 2)
  t.is((await run(['set', 'demo-1', '--priority', '3'])).code, 5)
})

test('completion knows commands, options and the runs that a command can act on', async t => {
  const { run, submit } = await begin(t)
  await submit()
  await submit()
  await run(['pause', 'demo-2', '--no-wait'])
  const words = async (...typed: string[]) =>
    (await run(['__complete', '--', ...typed])).stdout.split('\n').filter(Boolean)
  t.deepEqual(await words('res'), ['resume'])
  t.deepEqual(await words('admin', 'us'), ['users'])
  t.true((await words('pause', '--')).includes('--grace'))
  t.deepEqual((await words('show', '')).sort(), ['demo-1', 'demo-2'])
  t.deepEqual(await words('resume', ''), ['demo-2'])
  t.deepEqual(await words('pause', '--reason', 'demo', 'demo-'), ['demo-1'])
  t.deepEqual(await words('pause', '--reason', ''), [], 'a value is next')
  t.regex((await words('show', 'run_'))[0] ?? '', /^run_\w+$/)
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout } = await run(['completion', shell])
    t.is(code, 0)
    t.true(stdout.includes('forge __complete'))
  }
  const away = await run(['__complete', '--', 'show', ''], {
    env: { FORGE_HOST: 'http://127.0.0.1:9' },
  })
  t.deepEqual({ ...away }, { code: 0, stdout: '', stderr: '' }, 'silent without a server')
})
