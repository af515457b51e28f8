import { encodeFact, type Fact } from '../../events/fact.ts'
import { encodeBlock } from '../../platform/series/block.ts'
import { fromJsonNumber } from '../../platform/series/json-number.ts'
import { createPoints, makeRoom } from '../../platform/series/points.ts'
import type { MetricBlock } from '../../schemas/metric-block.ts'
import type { MetricsInput } from '../../schemas/metrics.ts'
import { parseTimestamp } from '../../schemas/timestamp.ts'

/** The server's data about a report. */
export type Receipt = Pick<Fact, 'event_id' | 'received_at_ms' | 'actor' | 'request_id'>

// Shared by all calls, because recording is synchronous.
const points = createPoints()

/**
 * Encodes a validated report as the value of its log record. Of repeated steps of a key the last one wins;
 * `inserted` counts the remaining points, `keys` are distinct. `ts` defaults to the time of receipt.
 */
export function recordMetrics(
  body: MetricsInput | MetricBlock,
  receipt: Receipt,
): { value: Buffer; inserted: number; keys: readonly string[] } {
  const {
    bytes,
    inserted,
    keys: distinct,
  } = 'points' in body
    ? encodeBlock(inColumns(body.points, receipt.received_at_ms), points)
    : encodeBlock(body.keys, { ...body, length: body.keys.length })
  const value = encodeFact({
    ...receipt,
    type: 'metrics.appended',
    run_id: body.run_id,
    attempt: body.attempt ?? null,
    body: bytes,
  })
  return { value, inserted, keys: distinct }
}

/** Fills the columns of `points`, and returns the key of each. */
function inColumns(reported: MetricsInput['points'], received_at_ms: number): string[] {
  points.length = 0
  makeRoom(points, reported.length)
  const keys: string[] = []
  for (const { key, step, ts, value } of reported) {
    const i = keys.push(key) - 1
    points.steps[i] = step
    points.ts[i] = ts === undefined ? received_at_ms : parseTimestamp(ts)
    points.values[i] = fromJsonNumber(value)
  }
  points.length = keys.length
  return keys
}
