import type { UnstampedFact } from '../../events/fact.ts'
import { encodeHardware, type HardwarePoint } from '../../events/hardware.ts'
import type { HardwareInput, HardwarePointInput } from '../../schemas/hardware.ts'
import { parseTimestamp } from '../../schemas/timestamp.ts'

/**
 * Encodes a validated report as a fact. If a GPU or machine has several points for one time, the last one wins; `inserted`
 * counts the remaining points.
 */
export function recordHardware(body: HardwareInput): {
  fact: UnstampedFact
  inserted: number
} {
  const points = new Map(body.points.map(point => [identityOf(point), toPoint(point)]))
  const fact: UnstampedFact = {
    type: 'hardware.appended',
    run_id: body.run_id,
    attempt: body.attempt ?? null,
    body: encodeHardware({ points: [...points.values()] }),
  }
  return { fact, inserted: points.size }
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
