import test from 'ava'
import { commandLine } from '../servers/command-line.ts'
import { forgeWithSpare } from '../servers/spare.ts'
import { until } from '../servers/until.ts'

test('a job whose program reports nothing for a minute says so, unless it names a phase', async t => {
  const forge = await forgeWithSpare(t)
  const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const spec = ['--recipe', 'digits', '--project', 'demo', '--set', 'spec.resources.profile=spare']
  t.is((await run(['submit', ...spec])).code, 0)
  const conditions = async () =>
    (await forge.call<{ conditions: string[] }>('GET', '/api/jobs/demo-1')).body.conditions
  await until('the job is projected', 20_000, async () => (await conditions())?.length === 0)
  const set = (phase: string | null, seconds: number) =>
    forge.pool.query(
      `update read.jobs set state = 'starting', phase = $1, executor_running_at = now() - interval '1 hour',
              updated_at = now() - make_interval(secs => $2)`,
      [phase, seconds],
    )
  for (const [phase, seconds, expected] of [
    ['launching', 61, ['no_report']],
    [null, 61, ['no_report']],
    ['launching', 30, []],
    ['pulling_weights', 600, []],
  ] as const) {
    await set(phase, seconds)
    t.deepEqual(await conditions(), expected, `${phase} for ${seconds} s`)
  }
  await set('launching', 61)
  const { body } = await forge.call<object>('GET', '/api/jobs/demo-1')
  t.like(body, { phase: 'no_report' })
  const { stdout } = await run(['show', 'demo-1'])
  t.regex(stdout, /phase +no_report\n/)
  t.regex(
    stdout,
    /conditions +no_report: the program runs and has reported nothing; .* costs nothing/,
  )
  t.regex((await run(['ps'])).stdout, /starting +no_report/)
})
