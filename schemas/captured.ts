import type { TrafficRow } from './traffic.ts'

/** A request and its response: sealed in the database, and read by reflows alone. */
export type CapturedContent = Pick<
  TrafficRow,
  | 'revision_id'
  | 'path'
  | 'model'
  | 'stream'
  | 'status'
  | 'duration_ms'
  | 'prompt_tokens'
  | 'completion_tokens'
> & {
  request: string
  response: string
  /** Whether the response is server-sent events. */
  is_stream: boolean
}

/** A captured request in the database. */
export type CapturedRow = {
  request_id: string
  deployment_id: string
  token_id: string
  subject: string | null
  started_at: string
  sealed: string
}
