import test from 'ava'
import { toJob } from '../../../executor/slurm/dialect.ts'
import { JobLooks } from '../../../executor/slurm/job-looks.ts'

const job = (job_state: string, name = 'forge-run_a-1') =>
  toJob({ job_id: 7, name, job_state, exit_code: 0 })

/** What is known of a job after each of these responses of Slurm. */
async function known(...responses: ReturnType<typeof job>[]): Promise<(string | undefined)[]> {
  const left = [...responses]
  const looks = new JobLooks({ job: async () => left.shift() ?? null })
  const states: (string | undefined)[] = []
  for (const _ of responses) states.push((await looks.of(7, 'forge-run_a-1', 0))?.states[0])
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
