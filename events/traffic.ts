import type { TrafficRow } from '../schemas/traffic.ts'
import { decodeFact, decodeJson, encodeJson, type UnstampedFact } from './fact.ts'

/** The body of a `traffic.recorded` fact: requests to one deployment, whose id replaces the run's. */
type TrafficRecorded = { rows: readonly TrafficRow[] }

export const recordTraffic = (
  deployment_id: string,
  rows: readonly TrafficRow[],
): UnstampedFact => ({
  type: 'traffic.recorded',
  run_id: deployment_id,
  attempt: null,
  body: encodeJson({ rows } satisfies TrafficRecorded),
})

export function decodeTraffic(value: Buffer): readonly TrafficRow[] {
  const fact = decodeFact(value)
  if (fact.type !== 'traffic.recorded') throw new Error(`${fact.type} is not a traffic fact`)
  return (decodeJson(fact.body) as TrafficRecorded).rows
}
