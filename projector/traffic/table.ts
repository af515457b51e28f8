import type { TrafficRow } from '../../schemas/traffic.ts'

/** Counts are `bigint` in the tables, and are read as text unless converted. */
export type TrafficTables = {
  traffic: Omit<TrafficRow, 'started_at'> & { started_at: Date }
  traffic_daily: {
    deployment_id: string
    token_id: string
    /** Empty if none was promoted. */
    revision_id: string
    requests: number
    errors: number
    aborted: number
    prompt_tokens: number
    completion_tokens: number
    request_bytes: number
    response_bytes: number
    last_at: Date
  }
  traffic_deployments: { run_id: string; first_offset: number }
}
