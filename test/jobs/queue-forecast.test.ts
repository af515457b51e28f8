import test from 'ava'
import {
  type Outlook,
  oneFuture,
  rangesOf,
  seededRandom,
  type ToEnd,
  type ToStart,
} from '../../events/calculations/queue-forecast.ts'

const always = (seconds: number) => Array.from({ length: 5 }, () => seconds)

const waits = (more: Partial<ToStart> = {}): ToStart => ({
  owner: 'ada',
  executor: 'local',
  gpus: 1,
  past: always(100),
  not_before_s: 0,
  ...more,
})
const runs = (more: Partial<ToEnd> = {}): ToEnd => ({
  owner: 'bob',
  executor: 'local',
  gpus: 1,
  past: always(100),
  held_s: 40,
  limit_s: null,
  ...more,
})
const outlook = (parts: Partial<Outlook>): Outlook => ({
  waiting: [],
  running: [],
  capacity: new Map([['local', 1]]),
  rooms: new Map(),
  ...parts,
})
const starts = (parts: Partial<Outlook>) => oneFuture(outlook(parts), seededRandom(1))

test('a job starts when running jobs and those ahead of it have ended', t => {
  t.deepEqual(starts({ running: [runs()], waiting: [waits(), waits(), waits()] }), [60, 160, 260])
})

test('an attempt ends at its limit at the latest, and one that outlived all others some time later', t => {
  t.deepEqual(starts({ running: [runs({ limit_s: 5 })], waiting: [waits()] }), [5])
  const [late = 0] = starts({ running: [runs({ held_s: 300 })], waiting: [waits()] })
  t.true(late > 0 && late <= 600)
})

test('jobs overtake one that waits for its quota or its time, but never one that waits for GPUs', t => {
  const capacity = new Map([['local', 2]])
  const big = waits({ gpus: 2 })
  t.deepEqual(starts({ capacity, running: [runs()], waiting: [big, waits()] }), [60, 160])
  const rooms = new Map([['ada', { gpus: 1, jobs: 1 }]])
  const other = waits({ owner: 'cy' })
  const own = runs({ owner: 'ada', held_s: 0 })
  t.deepEqual(starts({ capacity, rooms, running: [own], waiting: [waits(), other] }), [100, 0])
  const later = waits({ not_before_s: 30 })
  t.deepEqual(starts({ capacity, waiting: [later, waits()] }), [30, 0])
})

test('a job without GPUs overtakes jobs that wait for GPUs, and makes no wait unpredictable', t => {
  const bare = waits({ gpus: 0 })
  t.deepEqual(starts({ running: [runs()], waiting: [waits(), bare, waits()] }), [60, 0, 160])
  const serving = runs({ gpus: 0, past: [] })
  const seen = outlook({ running: [serving, runs()], waiting: [waits(), bare] })
  const futures = [oneFuture(seen, seededRandom(1))]
  t.deepEqual(rangesOf(seen, futures), [
    { p50: 60, p90: 62 },
    { p50: 0, p90: 2 },
  ])
})

test('a job of more GPUs than there are never starts, and blocks nobody', t => {
  t.deepEqual(starts({ waiting: [waits({ gpus: 2 }), waits()] }), [Number.POSITIVE_INFINITY, 0])
})

test('executors do not wait for each other', t => {
  const capacity = new Map([
    ['local', 1],
    ['slurm', 1],
  ])
  const other = waits({ executor: 'slurm' })
  t.deepEqual(starts({ capacity, running: [runs()], waiting: [waits(), other] }), [60, 0])
})

const rangeOf = (parts: Partial<Outlook>) => {
  const whole = outlook(parts)
  const futures = Array.from({ length: 40 }, (_, seed) => oneFuture(whole, seededRandom(seed)))
  return rangesOf(whole, futures)
}

test('the range spans the uncertainty of past attempts, the same each time', t => {
  const past = [50, 60, 70, 80, 90, 100, 110, 120, 130, 140]
  const parts = { running: [runs({ past })], waiting: [waits()] }
  const [range] = rangeOf(parts)
  t.true(range !== null && range !== undefined && range.p50 >= 40 && range.p50 <= 70)
  t.true(range !== null && range !== undefined && range.p90 >= 80 && range.p90 <= 102)
  t.deepEqual(rangeOf(parts), [range])
})

test('with fewer than five past attempts there is no forecast, unless the job starts at once', t => {
  const past = [100, 100, 100, 100]
  t.deepEqual(rangeOf({ running: [runs({ past })], waiting: [waits()] }), [null])
  t.deepEqual(rangeOf({ waiting: [waits({ past }), waits()] }), [{ p50: 0, p90: 2 }, null])
  t.deepEqual(rangeOf({ waiting: [waits({ gpus: 2 })] }), [null])
})
