import test from 'ava'
import {
  desiredReplicas,
  type Sample,
  samplesFor,
} from '../../command-api/deployments/replicas/desired.ts'

const scaling = { min: 1, max: 4, target: 2, up_window_s: 3, down_window_s: 6 }

/** A sample each second, starting at 0. */
const each = (...concurrencies: number[]): Sample[] =>
  concurrencies.map((concurrency, second) => ({ atMs: second * 1000, concurrency }))
const at = (samples: readonly Sample[], current: number, over: Partial<typeof scaling> = {}) =>
  desiredReplicas({ ...scaling, ...over }, current, samples, (samples.length - 1) * 1000)

test('engines are added once the average of the whole window calls for them, and all at once', t => {
  t.is(at(each(9, 9, 9), 1), 1, 'the window has not passed')
  t.is(at(each(0, 5, 5, 5), 1), 3)
  t.is(at(each(0, 0, 0, 4), 1), 1, 'a short peak is not demand')
  t.is(at(each(9, 99, 99, 99), 1), 4, 'never more than the most')
})

test('engines are removed only if no moment of the window called for more', t => {
  t.is(at(each(1, 1, 1, 1, 1), 3), 3, 'the window has not passed')
  t.is(at(each(6, 1, 1, 1, 1, 1, 1), 3), 1)
  t.is(at(each(9, 1, 1, 3, 1, 1, 1), 3), 2)
  t.is(at(each(0, 0, 0, 0, 0, 0, 0), 3), 1)
  t.is(at(each(0, 0, 0, 0, 0, 0, 0), 3, { min: 2 }), 2, 'never fewer than the least')
})

test('demand that goes up and down within the windows changes nothing', t => {
  let current = 2
  const seen: Sample[] = []
  for (let second = 0; second < 120; second++) {
    seen.push({ atMs: second * 1000, concurrency: second % 4 < 2 ? 1 : 4 })
    const next = desiredReplicas(scaling, current, seen, second * 1000)
    t.is(next, 2, String(second))
    current = next
  }
})

test('changed bounds apply at once', t => {
  t.is(at([], 1, { min: 3 }), 3)
  t.is(at([], 4, { max: 2 }), 2)
  t.is(at(each(9, 9, 9, 9), 1, { min: 0, max: 1 }), 1, 'one at least, while it serves')
})

test('as many samples are kept as windows need', t => {
  const all = each(...Array.from({ length: 100 }, () => 1))
  const kept = samplesFor(scaling, all, 99_000)
  t.is(kept.length, 7)
  t.is(kept[0]?.atMs, 93_000)
  t.is(
    desiredReplicas(scaling, 3, kept, 99_000),
    desiredReplicas(scaling, 3, all, 99_000),
    'and they give the same result',
  )
})
