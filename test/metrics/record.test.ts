import test from 'ava'
import { recordMetrics } from '../../command-api/metrics/record.ts'
import { decodeBlock } from '../../platform/series/block.ts'
import { createPoints } from '../../platform/series/points.ts'
import type { MetricsInput } from '../../schemas/metrics/metrics.ts'

const receivedAtMs = 1_790_000_000_123

function record(points: MetricsInput['points']) {
  const { fact, inserted } = recordMetrics({ run_id: 'run_01', points, attempt: 2 }, receivedAtMs)
  const into = createPoints()
  const { keys, counts } = decodeBlock(fact.body, into)
  const column = (values: Float64Array) => [...values.subarray(0, into.length)]
  const read = { keys, counts, steps: column(into.steps), ts: column(into.ts) }
  return { fact, inserted, ...read, values: column(into.values) }
}

test('a report becomes one fact of its run and attempt', t => {
  const { fact } = record([{ key: 'loss', step: 1, value: 0.5 }])
  const { body: _, ...head } = fact
  t.deepEqual(head, { type: 'metrics.appended', run_id: 'run_01', attempt: 2 })
})

test('a point keeps its time or gets the time of receipt', t => {
  const { ts } = record([
    { key: 'loss', step: 1, value: 0.5, ts: '2026-11-20T19:26:53.250+01:00' },
    { key: 'loss', step: 2, value: 0.4 },
  ])
  t.deepEqual(ts, [Date.parse('2026-11-20T18:26:53.250Z'), receivedAtMs])
})

test('the last value of a repeated step wins, and one point is counted', t => {
  const { inserted, steps, values } = record([
    { key: 'loss', step: 1, value: 0.5 },
    { key: 'loss', step: 2, value: 0.4 },
    { key: 'loss', step: 1, value: 0.6 },
  ])
  t.is(inserted, 2)
  t.deepEqual(steps, [2, 1])
  t.deepEqual(values, [0.4, 0.6])
})

test('non-finite values are kept', t => {
  const { values } = record([
    { key: 'loss', step: 1, value: 'NaN' },
    { key: 'loss', step: 2, value: 'Infinity' },
    { key: 'loss', step: 3, value: '-Infinity' },
  ])
  t.deepEqual(values, [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])
})

test('a report without points is accepted and inserts none', t => {
  t.is(record([]).inserted, 0)
})
