/** A request that a deployment's token made, as it is recorded (contract: "Traffic row"). Times in ms, sizes in bytes. */
export type TrafficRow = {
  request_id: string
  deployment_id: string
  /** Null if none was promoted. */
  revision_id: string | null
  token_id: string
  method: string
  path: string
  model: string | null
  stream: boolean
  /** 0 if nothing was answered. */
  status: number
  error_source: 'gateway' | 'engine' | 'client' | null
  started_at: string
  ttft_ms: number | null
  duration_ms: number
  request_bytes: number
  response_bytes: number
  prompt_tokens: number | null
  completion_tokens: number | null
  usage_source: 'engine' | 'estimated' | 'none'
  aborted: boolean
  client_ip: string
  user_agent: string | null
}
