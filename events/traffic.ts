import type { TrafficRow } from '../schemas/traffic.ts'
import { decodeFact, decodeJson, encodeFact, encodeJson, type Fact } from './fact.ts'

/** The body of a `traffic.recorded` fact: requests to one deployment, whose id replaces the run's. */
type TrafficRecorded = { rows: readonly TrafficRow[] }

export type TrafficReceipt = Pick<Fact, 'event_id' | 'received_at_ms' | 'request_id'>

export const encodeTraffic = (
  deployment_id: string,
  rows: readonly TrafficRow[],
  receipt: TrafficReceipt,
): Buffer =>
  encodeFact({
    ...receipt,
    type: 'traffic.recorded',
    run_id: deployment_id,
    attempt: null,
    actor: { type: 'system', id: 'gateway', via: 'traffic' },
    body: encodeJson({ rows } satisfies TrafficRecorded),
  })

export function decodeTraffic(value: Buffer): readonly TrafficRow[] {
  const fact = decodeFact(value)
  if (fact.type !== 'traffic.recorded') throw new Error(`${fact.type} is no fact of traffic`)
  return (decodeJson(fact.body) as TrafficRecorded).rows
}
