import test from 'ava'
import fc from 'fast-check'
import { observations } from '../../command-api/alerts/observations.ts'
import { dueOf, hearingMs, type Watch } from '../../command-api/alerts/watch.ts'

const start = Date.parse('2026-11-20T12:00:00Z')
const at = (minutes: number) => new Date(start + minutes * 60_000)

const idle: Watch = {
  ...{ of: 'samples', for_s: 1800, is_running: true, running_since: null, is_open: false },
  ...{ since: at(0), seen_at: at(30), fine_at: null },
}
const always = new Date(0)

test('GPUs that were idle for long enough fire, based on their samples alone', t => {
  t.is(dueOf(idle, at(31), always), 'fire')
  t.is(dueOf({ ...idle, seen_at: at(29) }, at(500), always), null)
  t.is(dueOf({ ...idle, fine_at: at(1) }, at(31), always), null)
})

test('GPUs that are used again resolve the alert, once', t => {
  const open = { ...idle, is_open: true }
  t.is(dueOf(open, at(31), always), null)
  const used = { ...open, fine_at: at(40), seen_at: at(40) }
  t.is(dueOf(used, at(41), always), 'recovered')
  t.is(dueOf({ ...used, is_open: false }, at(41), always), null)
})

test('a run without metrics for long enough fires with the passage of time', t => {
  const quiet: Watch = { ...idle, of: 'silence', seen_at: at(0), fine_at: at(0) }
  t.is(dueOf(quiet, at(29), always), null)
  t.is(dueOf(quiet, at(30), always), 'fire')
  t.is(dueOf({ ...quiet, is_open: true, fine_at: at(45) }, at(46), always), 'recovered')
})

test('a server that was down does not mistake its own absence for silence', t => {
  const quiet: Watch = { ...idle, of: 'silence', seen_at: at(0), fine_at: at(0) }
  t.is(dueOf(quiet, at(60), at(59)), null)
  t.is(dueOf(quiet, new Date(+at(59) + hearingMs), at(59)), 'fire')
})

test('a waiting or paused job is not watched, and its open alert is closed', t => {
  const paused = { ...idle, is_running: false }
  t.is(dueOf(paused, at(60), always), null)
  t.is(dueOf({ ...paused, is_open: true }, at(60), always), 'not_running')
})

test('a new attempt has the same time limit as the previous one', t => {
  const quiet: Watch = { ...idle, of: 'silence', seen_at: at(0), fine_at: at(0) }
  const again = { ...quiet, running_since: at(50) }
  t.is(dueOf(again, at(79), always), null)
  t.is(dueOf(again, at(80), always), 'fire')
})

test('observations give the same result whatever their order and repetition', t => {
  const samples = fc.array(
    fc.record({ ms: fc.nat(1000), isFine: fc.boolean(), attempt: fc.integer({ min: 1, max: 2 }) }),
    { minLength: 1, maxLength: 12 },
  )
  const twoOrders = samples.chain(given =>
    fc.tuple(
      fc.constant(given),
      fc.shuffledSubarray([...given, ...given], { minLength: given.length * 2 }),
    ),
  )
  const resultOf = (given: { ms: number; isFine: boolean; attempt: number }[]) => {
    const observed = observations()
    for (const { ms, isFine, attempt } of given)
      observed.note('run_1', { rule: 'gpu_idle', for_s: 1, attempt }, ms, isFine)
    return observed.due(0)
  }
  const property = fc.property(twoOrders, ([one, other]) => {
    t.deepEqual(resultOf(other), resultOf(one))
  })
  t.notThrows(() => fc.assert(property, { numRuns: 300 }))
})

test('observations are stored at intervals, not with every report', t => {
  const observed = observations()
  const note = (ms: number) => observed.note('run_1', { rule: 'r', for_s: 1, attempt: 0 }, ms, true)
  note(0)
  t.is(observed.due(0).length, 1)
  note(10_000)
  t.is(observed.due(10_000).length, 0)
  note(30_000)
  t.like(observed.due(30_000), [{ since: 10_000, seen_at: 30_000, fine_at: 30_000 }])
})
