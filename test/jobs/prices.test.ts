import test from 'ava'
import { admit, report } from '../../command-api/jobs/decide.ts'
import { nextLimit } from '../../command-api/jobs/limits.ts'
import { type NewPrice, readNewPrices, reprice } from '../../command-api/jobs/prices.ts'
import { runDueTimers } from '../../command-api/jobs/timers.ts'
import { setProfile } from '../../command-api/profiles/decide.ts'
import { changeProfile } from '../../command-api/profiles/routes.ts'
import { admittedJob, after, at, ended, executorMarked, reported, scheduled } from './given.ts'
import { type JobsWithExecutor, jobsWithExecutor } from './jobs-with-executor.ts'

const priced = { ...admittedJob({ limits: { max_cost: '2.00' } }), price_per_gpu_hour: '3.60' }
const price = (price_per_gpu_hour: string, seconds: number): NewPrice => ({
  price_per_gpu_hour,
  effective_at: at(seconds),
})
const running = [
  (job: Parameters<typeof admit>[0]) => admit(job, priced, null),
  scheduled,
  executorMarked(0),
  reported('running', 0),
]

test('a new price moves the end of the budget of a running job', t => {
  t.deepEqual(nextLimit(after(...running))?.at, at(1000))
  const dearer = after(...running, job => reprice(job, [price('7.20', 500)]))
  // Half is spent after 500 s, and the other half in half the time.
  t.deepEqual(nextLimit(dearer)?.at, at(750))
  const free = after(...running, job => reprice(job, [price('0', 500)]))
  t.is(nextLimit(free), null)
})

test('max_cost is for all attempts of a job together', t => {
  const again = after(...running, ended({ exit_code: null }, 400), scheduled)
  t.is(again.spent_micro, '800000')
  const retried = {
    ...priced,
    spec: admittedJob({ limits: { max_cost: '2.00' }, retry: { max_attempts: 3 } }).spec,
  }
  const second = after(
    job => admit(job, retried, null),
    ...running.slice(1),
    ended({ exit_code: null }, 400),
    scheduled,
    reported('running', 10_000),
  )
  t.deepEqual(nextLimit(second)?.at, at(10_600))
})

test('a known price, or one after the end of a job, appends no event', t => {
  const job = after(...running, one => reprice(one, [price('7.20', 500)]))
  t.deepEqual(reprice(job, [price('7.20', 500)]), [])
  t.deepEqual(reprice(after(...running, ended()), [price('9.00', 5)]), [])
  t.deepEqual(reprice(after(running[0] ?? scheduled), [price('9.00', 5)]), [])
})

const root = { actor: { type: 'user', id: 'root', via: 'test' }, requestId: 'test' } as const
const machine = {
  name: 'local',
  series: 'local',
  gpus_per_node: 4,
  max_nodes: 1,
  cpus: null,
  memory_gb: null,
  executor: 'local',
  container: false,
  available: true,
}

/** Sets the price of the profile. */
const priceSetter =
  ({ deps }: JobsWithExecutor) =>
  (price_per_gpu_hour: string) =>
    changeProfile(deps, root, 'local', profile =>
      setProfile(profile, { ...machine, price_per_gpu_hour }),
    )

const prices = (events: readonly { type: string; data: object }[]) =>
  events.flatMap(({ type, data }) =>
    type === 'job.repriced' && 'price_per_gpu_hour' in data ? [data.price_per_gpu_hour] : [],
  )

test('a price change applies to running jobs, in order and once; waiting jobs get it when they run', async t => {
  const at = await jobsWithExecutor(t)
  const setTo = priceSetter(at)
  await setTo('1.00')
  const { run_id } = await at.submit({ limits: { max_cost: '10.00' } })
  const { run_id: waiting } = await at.submit()
  await at.commands.schedule(run_id, [0])
  await at.change(run_id, job =>
    report(job, {
      event: 'running',
      attempt: 1,
      phase: null,
      exit_code: null,
      message: null,
      at: at.now().toISOString(),
    }),
  )
  const limitAt = async (): Promise<Date> =>
    (await at.pool.query('select limit_at from write.job_state where run_id = $1', [run_id]))
      .rows[0]?.limit_at
  const before = await limitAt()
  for (const price of ['2.00', '2.000', '3.00']) await setTo(price)
  t.is((await readNewPrices(at, waiting)).length, 2)
  await runDueTimers(at.deps)
  await runDueTimers(at.deps)
  t.deepEqual(prices(await at.eventsOf(run_id)), ['2.0000', '3.0000'])
  t.deepEqual(prices(await at.eventsOf(waiting)), [])
  t.true((await limitAt()) < before)

  await setTo('4.00')
  const ended_at = at.now().toISOString()
  const exit = { exit_code: 1, signal: null, oom_killed: false, launch_error: null, ended_at }
  await at.commands.exited(run_id, 1, { started_at: ended_at, exit })
  t.deepEqual(
    (await at.eventsOf(run_id)).slice(-3).map(event => event.type),
    ['job.repriced', 'job.exited', 'job.failed'],
    'even if the end came before the pass of the timers',
  )
  await at.commands.schedule(waiting, [0])
  await runDueTimers(at.deps)
  t.deepEqual(prices(await at.eventsOf(waiting)), ['2.0000', '3.0000', '4.0000'])
  const { run_id: last } = await at.submit()
  t.deepEqual(await readNewPrices(at, last), [], 'it was admitted at the price of now')
})

test('a job admitted with an outdated price gets the change', async t => {
  const at = await jobsWithExecutor(t)
  const setTo = priceSetter(at)
  await setTo('1.00')
  await setTo('2.00')
  await at.pool.query(`update write.profile set price_per_gpu_hour = '1.00'`)
  const { run_id } = await at.submit()
  t.like(await readNewPrices(at, run_id), [{ price_per_gpu_hour: '2.0000' }])
})
