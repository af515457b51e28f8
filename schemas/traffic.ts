import { type Static, Type } from 'typebox'
import { closed, nullable, oneOf, pageQuery, timestamp } from './shared.ts'

const count = () => Type.Integer({ minimum: 0 })

/** A recorded request by a deployment's token. Times in ms, sizes in bytes. */
export const trafficRow = Type.Object({
  request_id: Type.String(),
  deployment_id: Type.String(),
  /** Null if none was promoted. */
  revision_id: nullable(Type.String()),
  token_id: Type.String(),
  method: Type.String(),
  path: Type.String(),
  model: nullable(Type.String()),
  stream: Type.Boolean(),
  /** 0 if there was no response. */
  status: Type.Integer(),
  error_source: nullable(oneOf('gateway', 'engine', 'client')),
  started_at: timestamp(),
  ttft_ms: nullable(Type.Number()),
  duration_ms: Type.Number(),
  request_bytes: count(),
  response_bytes: count(),
  prompt_tokens: nullable(count()),
  completion_tokens: nullable(count()),
  usage_source: oneOf('engine', 'estimated', 'none'),
  aborted: Type.Boolean(),
  client_ip: Type.String(),
  user_agent: nullable(Type.String()),
})
export type TrafficRow = Static<typeof trafficRow>

const span = {
  /** Inclusive. */
  from: Type.Optional(timestamp()),
  /** Exclusive. */
  to: Type.Optional(timestamp()),
}

export const trafficQuery = closed({
  token_id: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  status: Type.Optional(Type.Integer({ minimum: 0, maximum: 599 })),
  ...span,
  ...pageQuery,
})

export const trafficSummaryQuery = closed({
  ...span,
  by: Type.Optional(oneOf('token', 'revision', 'hour')),
})

const figures = {
  requests: count(),
  /** Requests that failed in a gateway or an engine, or with a status of 400 or more. */
  errors: count(),
  /** Requests aborted before their response was complete. */
  aborted: count(),
  prompt_tokens: count(),
  completion_tokens: count(),
  /** Completion tokens per second over the requests that report them; null if none does. */
  tokens_per_s: nullable(Type.Number()),
  ttft_ms_p50: nullable(Type.Number()),
  ttft_ms_p95: nullable(Type.Number()),
  duration_ms_p50: nullable(Type.Number()),
  duration_ms_p95: nullable(Type.Number()),
}

export const trafficSummary = Type.Object({
  from: timestamp(),
  to: timestamp(),
  ...figures,
  errors_by_token: Type.Array(Type.Object({ token_id: Type.String(), errors: count() })),
  /**
   * By token, revision or start of the hour, as requested; the 1,000 groups with the most requests, hours in order.
   */
  groups: Type.Array(Type.Object({ key: nullable(Type.String()), ...figures })),
})
export type TrafficSummary = Static<typeof trafficSummary>
