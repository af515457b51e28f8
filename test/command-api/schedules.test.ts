import test from 'ava'
import { nextSlot } from '../../command-api/duties/schedules.ts'
import { nothing } from '../../command-api/effects/outcome.ts'
import { type Reactor, reactor } from '../../command-api/effects/reactor.ts'
import { until } from '../servers/until.ts'
import { scheduleRunners } from './run-schedules.ts'

const sweep = (seconds: number, seen: string[] = []): Reactor<null> =>
  reactor<{ slot: string }, null>({
    name: 'sweep',
    repeat: 'local',
    every: { seconds, payload: slot => ({ slot: slot.toISOString() }) },
    async perform({ payload }) {
      seen.push(payload.slot)
      return nothing
    },
  })

test('slots lie on multiples of the interval, and the next one is later than now', t => {
  const at = (iso: string, seconds: number) => nextSlot(new Date(iso), seconds).toISOString()
  t.is(at('2026-11-20T12:00:00Z', 3600), '2026-11-20T13:00:00.000Z')
  t.is(at('2026-11-20T12:59:59.999Z', 3600), '2026-11-20T13:00:00.000Z')
  t.is(at('2026-11-20T12:00:00Z', 86_400), '2026-11-21T00:00:00.000Z')
})

test('each slot adds its duty once, however many processes look', async t => {
  const { start, nextAt, rows, dueAt, pass } = await scheduleRunners(t)
  for (let process = 0; process < 4; process++) start(sweep(60))
  await nextAt('2026-11-20T12:01:00.000Z')
  t.deepEqual(await rows(), [], 'the first slot is still to come')
  pass(60_000)
  await nextAt('2026-11-20T12:02:00.000Z')
  pass(60_000)
  await nextAt('2026-11-20T12:03:00.000Z')
  t.deepEqual(await dueAt(), ['2026-11-20T12:01:00.000Z', '2026-11-20T12:02:00.000Z'])
})

test('slots missed during downtime are covered by one duty', async t => {
  const { start, nextAt, dueAt, pass } = await scheduleRunners(t)
  const first = start(sweep(60))
  await nextAt('2026-11-20T12:01:00.000Z')
  await first.stop()
  pass(10 * 60_000 + 1000)
  start(sweep(60))
  await nextAt('2026-11-20T12:11:00.000Z')
  t.deepEqual(await dueAt(), ['2026-11-20T12:01:00.000Z'])
})

test('a schedule advanced by a fast clock resumes with the correct clock', async t => {
  const { start, nextAt, dueAt, pass } = await scheduleRunners(t)
  start(sweep(60))
  await nextAt('2026-11-20T12:01:00.000Z')
  const dayMs = 86_400_000
  pass(dayMs)
  await nextAt('2026-11-21T12:01:00.000Z')
  pass(-dayMs)
  await nextAt('2026-11-20T12:01:00.000Z')
  pass(120_000)
  await nextAt('2026-11-20T12:03:00.000Z')
  t.deepEqual(await dueAt(), ['2026-11-20T12:01:00.000Z'])
})

test('a changed interval applies from the next start', async t => {
  const { start, nextAt, row } = await scheduleRunners(t)
  await start(sweep(86_400)).stop()
  start(sweep(3600))
  await nextAt('2026-11-20T13:00:00.000Z')
  t.is((await row())?.every_seconds, 3600)
})

test('the duty of a slot is performed with its payload', async t => {
  const { start, nextAt, run, pass } = await scheduleRunners(t)
  const seen: string[] = []
  const { runner } = run([sweep(60, seen)], { pollMs: 60_000 })
  start(sweep(60), runner.wake)
  await nextAt('2026-11-20T12:01:00.000Z')
  pass(60_000)
  await until('it is performed', 10_000, () => seen.length === 1)
  t.deepEqual(seen, ['2026-11-20T12:01:00.000Z'])
})

test('a schedule whose slot cannot be added does not hold up the others', async t => {
  const { start, declared, rows, pass } = await scheduleRunners(t)
  const broken = reactor<{ slot: string }, null>({
    name: 'broken',
    repeat: 'local',
    every: {
      seconds: 60,
      payload() {
        throw new Error('no payload')
      },
    },
    perform: async () => nothing,
  })
  start([broken, sweep(60)])
  await until('both are declared', 10_000, async () => (await declared()).length === 2)
  pass(60_000)
  await until('the other slot was added', 10_000, async () => (await rows()).length === 1)
  t.deepEqual(
    (await rows()).map(({ reactor }) => reactor),
    ['sweep'],
  )
})
