import type { Spread } from '../rig/quantile.ts'

/** Points for runs in rotation, or the same calls again and again; each connection has its own share of either. */
export type Work =
  | { runs: readonly { run_id: string; token: string }[]; points: number }
  | { calls: readonly Call[] }

/** A request of a person, always with the same body. */
export type Call = { method: string; path: string; token: string; body: unknown }

/** The work of one load process. */
export type Plan = {
  host: string
  port: number
  work: Work
  connections: number
  seconds: number
  /** Share of requests sent a second time, byte for byte. */
  resent: number
  /** Requests a second on a fixed schedule; null: each connection sends after each response. */
  rate: number | null
}

export type LoadResult = {
  requests: number
  /** Requests with status 200, without repeats. */
  accepted: number
  /** From the first request to the last response. */
  seconds: number
  /** Milliseconds from sending (with a fixed rate: from the due time) to the response. */
  ack: Spread
  /** Responses by status; `0` counts broken connections. */
  statuses: Record<string, number>
  /** CPU seconds of the load process. */
  processorSeconds: number
}
