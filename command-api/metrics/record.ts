import type { UnstampedFact } from '../../events/fact.ts'
import { encodeBlock } from '../../platform/series/block.ts'
import { fromJsonNumber } from '../../platform/series/json-number.ts'
import { createPoints, makeRoom } from '../../platform/series/points.ts'
import type { MetricBlock } from '../../schemas/metrics/block.ts'
import type { MetricsInput } from '../../schemas/metrics/metrics.ts'
import { parseTimestamp } from '../../schemas/timestamp.ts'

// Shared by all calls, because recording is synchronous.
const points = createPoints()

/**
 * Encodes a validated report as a fact. If a step of a key is repeated, the last one wins;
 * `inserted` counts the remaining points, `keys` are distinct. `ts` defaults to the time of receipt.
 */
export function recordMetrics(
  body: MetricsInput | MetricBlock,
  receivedAtMs: number,
): { fact: UnstampedFact; inserted: number; keys: readonly string[] } {
  const {
    bytes,
    inserted,
    keys: distinct,
  } = 'points' in body
    ? encodeBlock(inColumns(body.points, receivedAtMs), points)
    : encodeBlock(body.keys, { ...body, length: body.keys.length })
  const { run_id, attempt = null } = body
  const fact: UnstampedFact = { type: 'metrics.appended', run_id, attempt, body: bytes }
  return { fact, inserted, keys: distinct }
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
