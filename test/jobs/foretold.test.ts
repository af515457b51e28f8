import test from 'ava'
import { createQueueBook } from '../../command-api/jobs/queue-book.ts'
import {
  corrected,
  correctionOf,
  noCorrection,
  type Outcome,
} from '../../events/calculations/queue-forecast.ts'
import { jobsWithExecutor } from './jobs-with-executor.ts'

const outcome = (p50: number, p90: number, wait: number): Outcome => ({ range: { p50, p90 }, wait })
const times = <T>(count: number, of: (nth: number) => T) =>
  Array.from({ length: count }, (_, n) => of(n))

test('forecasts are corrected by how much recent waits exceeded them', t => {
  // Waits of 10 to 200 s, all forecast as 50 to 100 s.
  const outcomes = times(20, n => outcome(50, 100, (n + 1) * 10))
  const by = correctionOf(outcomes)
  t.deepEqual(by, { p50: 110 / 50, p90: 190 / 100 })
  t.deepEqual(corrected({ p50: 50, p90: 100 }, by), { p50: 110, p90: 190 })
  const within = outcomes.filter(({ wait }) => wait <= 190)
  t.is(within.length, 19)
})

test('too few outcomes, and jobs with an immediate start, correct nothing', t => {
  t.deepEqual(correctionOf(times(19, () => outcome(50, 100, 900))), noCorrection)
  t.deepEqual(correctionOf(times(50, () => outcome(0, 2, 900))), noCorrection)
  t.deepEqual(corrected({ p50: 0, p90: 2 }, { p50: 5, p90: 5 }), { p50: 0, p90: 2 })
})

test('a corrected range is never inverted', t => {
  t.deepEqual(corrected({ p50: 100, p90: 110 }, { p50: 2, p90: 1 }), { p50: 200, p90: 200 })
})

test('a queue read before a job arrived is read again for requests about that job', async t => {
  const at = await jobsWithExecutor(t)
  // From another process, which does not see the submits of this one.
  const book = createQueueBook({ ...at, failed: error => t.log(error) })
  t.deepEqual((await book.picture()).waiting, [])
  const { run_id } = await at.submit()
  const { waiting } = await book.picture([run_id])
  t.deepEqual(
    waiting.map(({ job, position }) => [job.run_id, position]),
    [[run_id, 1]],
  )
  t.is((await book.picture()).waiting.length, 1)
})

test('the forecast of a job is stored with the actual wait, and corrects later forecasts', async t => {
  const at = await jobsWithExecutor(t, { gpus: 1 })
  await at.pool.query(`insert into write.quota (username, max_concurrent_jobs) values ('ada', 50)`)
  const first = await at.submit()
  const { rows: kinds } = await at.pool.query('select recipe, profile from write.job_state')
  await at.pool.query(
    `insert into write.past_hold (recipe, profile, seconds, ended_at)
     select $1, $2, 100 + n, $3 from generate_series(1, 20) n`,
    [kinds[0].recipe, kinds[0].profile, at.now()],
  )
  await at.commands.schedule(first.run_id, [0])
  at.deps.queue.changed()

  const told = async () => {
    const { run_id, queue } = await at.submit()
    const { rows } = await at.pool.query(
      'select foretold_p50_s as p50, foretold_p90_s as p90 from write.job_state where run_id = $1',
      [run_id],
    )
    return { run_id, eta: queue?.eta_s, foretold: rows[0] }
  }
  const second = await told()
  t.true(second.eta !== null && second.eta !== undefined && second.eta.p90 > 60)
  t.deepEqual(second.eta, second.foretold)

  at.later(150)
  await at.pool.query('delete from write.gpu_slot')
  await at.commands.schedule(second.run_id, [0])
  const { rows } = await at.pool.query(
    'select executor, p50_s, p90_s, round(waited_s) as waited_s from write.past_wait where p90_s > 2',
  )
  t.deepEqual(rows, [
    { executor: 'local', p50_s: second.foretold.p50, p90_s: second.foretold.p90, waited_s: 150 },
  ])

  await at.pool.query(
    `insert into write.past_wait (executor, p50_s, p90_s, waited_s, started_at)
     select 'local', 100, 100, 300, $1 from generate_series(1, 50)`,
    [at.now()],
  )
  at.deps.queue.changed()
  const third = await told()
  t.deepEqual(third.eta, { p50: third.foretold.p50 * 3, p90: third.foretold.p90 * 3 })
})
