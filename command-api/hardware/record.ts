import { encodeFact, type Fact } from '../../events/fact.ts'
import { encodeHardware, type HardwarePoint } from '../../events/hardware.ts'
import type { HardwareInput, HardwarePointInput } from '../../schemas/hardware.ts'
import { parseTimestamp } from '../../schemas/timestamp.ts'

/** The server's data about a report. */
export type Receipt = Pick<Fact, 'event_id' | 'received_at_ms' | 'actor' | 'request_id'>

/**
 * Encodes a validated report as the value of its log record. Of several points of one GPU or machine at one time the
 * last one wins; `inserted` counts the remaining ones.
 */
export function recordHardware(
  body: HardwareInput,
  receipt: Receipt,
): { value: Buffer; inserted: number } {
  const points = new Map(body.points.map(point => [identityOf(point), toPoint(point)]))
  const value = encodeFact({
    ...receipt,
    type: 'hardware.appended',
    run_id: body.run_id,
    attempt: body.attempt ?? null,
    body: encodeHardware({ points: [...points.values()] }),
  })
  return { value, inserted: points.size }
}

const identityOf = ({ ts, node, rank, scope, index }: HardwarePointInput) =>
  JSON.stringify([parseTimestamp(ts), scope, node ?? null, rank ?? null, index ?? null])

function toPoint(point: HardwarePointInput): HardwarePoint {
  const { ts, node, rank, scope, index, uuid, throttle, xid, ...rest } = point
  return {
    ts_ms: parseTimestamp(ts),
    node: node ?? null,
    rank: rank ?? null,
    scope,
    index: index ?? null,
    uuid: uuid ?? null,
    readings: Object.fromEntries(
      Object.entries(rest).flatMap(([name, value]) =>
        typeof value === 'number' ? [[name, value]] : [],
      ),
    ),
    throttle: throttle ?? [],
    xid: xid ?? null,
  }
}
