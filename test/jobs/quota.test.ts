import test from 'ava'
import { stop } from '../../command-api/jobs/decide.ts'
import { takeQuota } from '../../command-api/jobs/holds.ts'
import { billLinesOf, hoursText, openLinesOf, sumOf } from '../../events/calculations/billing.ts'
import { jobsWithExecutor } from './jobs-with-executor.ts'

const each = <T>(count: number, work: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)))

test('exactly as many of fifty concurrent starts get GPUs as the quota allows', async t => {
  const at = await jobsWithExecutor(t, { gpus: 64 })
  await at.pool.query(`insert into write.quota (username, max_concurrent_jobs) values ('ada', 50)`)
  const jobs = await each(50, () => at.submit())
  for (let round = 0; round < 3; round++) {
    const outcomes = await each(50, index =>
      at.commands.schedule(String(jobs[index]?.run_id), [index]),
    )
    t.is(outcomes.filter(outcome => outcome === 'scheduled').length, round === 0 ? 8 : 0)
    const { rows } = await at.pool.query(
      `select held_gpus, held_jobs, held_series, (select count(*)::int from write.quota_hold) as holds,
              (select count(*)::int from write.gpu_slot) as slots from write.quota`,
    )
    t.deepEqual(rows, [
      { held_gpus: 8, held_jobs: 8, held_series: { local: 8 }, holds: 8, slots: 8 },
    ])
  }
})

test('a GPU is held by at most one job', async t => {
  const at = await jobsWithExecutor(t)
  const jobs = await each(4, () => at.submit())
  const outcomes = await each(4, index => at.commands.schedule(String(jobs[index]?.run_id), [0]))
  t.deepEqual(outcomes.filter(outcome => outcome === 'scheduled').length, 1)
  t.is(outcomes.filter(outcome => outcome === 'gpus_taken').length, 3)
  const { rows } = await at.pool.query('select held_gpus from write.quota')
  t.deepEqual(rows, [{ held_gpus: 1 }])
})

test('a job that is no longer queued reserves nothing', async t => {
  const at = await jobsWithExecutor(t)
  const { run_id } = await at.submit()
  await at.change(run_id, job =>
    stop(job, { message: null, graceSeconds: null, force: false, now: at.now() }),
  )
  t.is(await at.commands.schedule(run_id, [0]), 'gone')
  const { rows } = await at.pool.query(
    'select 1 from write.gpu_slot union all select 1 from write.quota_hold',
  )
  t.deepEqual(rows, [])
})

test('the cap of a series applies in addition to the quota', async t => {
  const at = await jobsWithExecutor(t)
  await at.pool.query(
    `insert into write.quota (username, max_concurrent_jobs, per_series) values ('ada', 50, '{"local": {"max_concurrent_gpus": 2}}')`,
  )
  const jobs = await each(3, () => at.submit())
  const outcomes = await each(3, index =>
    at.commands.schedule(String(jobs[index]?.run_id), [index]),
  )
  t.is(outcomes.filter(outcome => outcome === 'scheduled').length, 2)
  t.is((await at.commands.waiting()).length, 0)
})

test('used-up GPU hours make a job wait until the next day', async t => {
  const at = await jobsWithExecutor(t)
  await at.pool.query(`insert into write.quota (username, daily_gpu_hours) values ('ada', 2)`)
  const { run_id } = await at.submit()
  const noon = new Date('2026-11-20T12:00:00Z')
  await at.pool.query(
    `insert into write.gpu_use (run_id, attempt, username, series, gpus, started_at, ended_at)
     values ('run_0', 1, 'ada', 'local', 2, '2026-11-19T23:00Z', '2026-11-20T01:00Z')`,
  )
  const take = (now: Date, gpus = 1) =>
    at.store.transaction(async tx => {
      const taken = await takeQuota(tx, {
        run_id,
        username: 'ada',
        series: 'local',
        gpus,
        team: null,
        now,
      })
      await tx.query('delete from write.quota_hold')
      return taken
    })
  t.false(await take(noon))
  t.true(await take(noon, 0), 'a job without GPUs uses none of them')
  t.true(await take(new Date('2026-11-21T00:00:01Z')))
  await at.pool.query(`update write.gpu_use set ended_at = '2026-11-20T00:59Z'`)
  t.true(await take(noon))
})

test('GPU hours of a day are counted for the quota as for the bill, to the millisecond', async t => {
  const at = await jobsWithExecutor(t)
  const { run_id } = await at.submit()
  await at.pool.query(`insert into write.quota (username) values ('ada')`)
  const now = new Date('2026-11-20T18:00:00.000Z')
  const day = '2026-11-20'
  const minutes = (count: number) => new Date(Date.parse(day) + count * 60_000 + 7).toISOString()
  // From the day before, over midnight, within the day, until now, and of zero length.
  const attempts: [from: number, to: number | null][] = [
    [-300, -200],
    [-90, 45],
    [100, 101],
    [700, 700],
    [900, null],
  ]
  const used = []
  for (const [index, [from, to]] of attempts.entries()) {
    const attempt = {
      attempt: index + 1,
      started_at: minutes(from),
      ended_at: to === null ? null : minutes(to),
    }
    await at.pool.query(
      `insert into write.gpu_use (run_id, attempt, username, series, gpus, started_at, ended_at)
       values ('run_0', $1, 'ada', 'local', 3, $2, $3)`,
      [attempt.attempt, attempt.started_at, attempt.ended_at],
    )
    const rates = [{ since: null, price_per_gpu_hour: '0' }]
    const metered = { gpus: 3, rates, attempts: [attempt] }
    used.push(...billLinesOf(metered), ...openLinesOf(metered, now))
    const { gpu_ms } = sumOf(used.filter(line => line.day === day))
    if (gpu_ms === 0n) continue
    const takes = (limit: bigint) =>
      at.store.transaction(async tx => {
        await tx.query('update write.quota set daily_gpu_hours = $1', [hoursText(limit, 12)])
        const taken = await takeQuota(tx, {
          run_id,
          username: 'ada',
          series: 'local',
          gpus: 1,
          team: null,
          now,
        })
        await tx.query('delete from write.quota_hold')
        await tx.query('update write.quota set held_gpus = 0, held_jobs = 0')
        return taken
      })
    t.false(await takes(gpu_ms - 1n), minutes(from))
    t.true(await takes(gpu_ms + 1n), minutes(from))
  }
  t.is(hoursText(sumOf(used).gpu_ms), '20.80')
})
