import test from 'ava'
import { type Receipt, recordMetrics } from '../../command-api/metrics/record.ts'
import { decodeFact } from '../../events/fact.ts'
import { decodeBlock } from '../../platform/series/block.ts'
import { createPoints } from '../../platform/series/points.ts'
import type { MetricsInput } from '../../schemas/metrics.ts'

const receipt: Receipt = {
  event_id: '0199e2c4-5b7a-7c11-8c2e-3f1a5b6c7d8e',
  received_at_ms: 1_790_000_000_123,
  actor: { type: 'run', id: 'run_01', via: 'ingest_token' },
  request_id: 'req-00000001',
}

function record(points: MetricsInput['points']) {
  const { value, inserted } = recordMetrics({ run_id: 'run_01', points, attempt: 2 }, receipt)
  const fact = decodeFact(value)
  const into = createPoints()
  const { keys, counts } = decodeBlock(fact.body, into)
  const column = (values: Float64Array) => [...values.subarray(0, into.length)]
  const read = { keys, counts, steps: column(into.steps), ts: column(into.ts) }
  return { fact, inserted, ...read, values: column(into.values) }
}

test('a report becomes one fact with its time of receipt', t => {
  const { fact } = record([{ key: 'loss', step: 1, value: 0.5 }])
  const { body: _, ...head } = fact
  t.deepEqual(head, { ...receipt, type: 'metrics.appended', run_id: 'run_01', attempt: 2 })
})

test('a point keeps its time or gets the time of receipt', t => {
  const { ts } = record([
    { key: 'loss', step: 1, value: 0.5, ts: '2026-11-20T19:26:53.250+01:00' },
    { key: 'loss', step: 2, value: 0.4 },
  ])
  t.deepEqual(ts, [Date.parse('2026-11-20T18:26:53.250Z'), receipt.received_at_ms])
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
