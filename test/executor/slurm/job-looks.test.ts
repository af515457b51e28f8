import test from 'ava'
import { toJob } from '../../../executor/slurm/dialect.ts'
import { JobLooks } from '../../../executor/slurm/job-looks.ts'
import { until } from '../../servers/until.ts'

const job = (job_state: string, name = 'forge-run_a-1') =>
  toJob({ job_id: 7, name, job_state, exit_code: 0 })

/** The state of a job after each of these responses of Slurm. */
async function known(...responses: ReturnType<typeof job>[]): Promise<(string | undefined)[]> {
  const left = [...responses]
  const looks = new JobLooks({ job: async () => left.shift() ?? null })
  const states: (string | undefined)[] = []
  for (const _ of responses)
    states.push((await looks.of({ id: 7, name: 'forge-run_a-1' }, 0))?.states[0])
  return states
}

test('how a job ended stays known when Slurm forgets it', async t => {
  t.deepEqual(await known(job('RUNNING'), job('NODE_FAIL'), null), [
    'RUNNING',
    'NODE_FAIL',
    'NODE_FAIL',
  ])
  t.deepEqual(await known(job('NODE_FAIL'), job('RUNNING', 'of another')), [
    'NODE_FAIL',
    'NODE_FAIL',
  ])
})

test('a job that vanishes while it runs is not known any more', async t => {
  t.deepEqual(await known(job('RUNNING'), null), ['RUNNING', undefined])
  t.deepEqual(await known(job('RUNNING', 'of another')), [undefined])
})

test('two jobs to which a killed controller gave the same number are distinguished', async t => {
  const looks = new JobLooks({ job: async () => job('RUNNING', 'forge-run_b-1') })
  const lost = { id: 7, name: 'forge-run_a-1' }
  const runs = { id: 7, name: 'forge-run_b-1' }
  t.is(await looks.of(lost, 60_000), null)
  looks.overForMs(lost)
  await passing(1)
  t.like(
    await looks.of(runs, 60_000),
    { states: ['RUNNING'] },
    'not what was reported for the other',
  )
  t.is(await looks.of(lost, 60_000), null)
  t.is(looks.overForMs(runs), 0)
  t.true(looks.overForMs(lost) >= 1)
  looks.forget(runs)
  t.true(looks.overForMs(lost) >= 1)
})

test('a job that is not over after all is over from a later instant on', async t => {
  const left = [null, job('RUNNING'), null]
  const looks = new JobLooks({ job: async () => left.shift() ?? null })
  const asked = { id: 7, name: 'forge-run_a-1' }
  await looks.of(asked, 0)
  looks.overForMs(asked)
  await passing(1)
  await looks.of(asked, 0)
  await looks.of(asked, 0)
  t.is(looks.overForMs(asked), 0)
})

/** Waits until this many milliseconds have passed on the clock that times the checks. */
function passing(ms: number): Promise<unknown> {
  const from = performance.now()
  return until(`${ms} ms have passed`, 5000, () => performance.now() - from >= ms)
}
