import type { Spread } from '../rig/quantile.ts'

/** The work of one load process. */
export type Plan = {
  host: string
  port: number
  /** Targets in rotation; each connection has its own share. */
  runs: readonly { run_id: string; token: string }[]
  points: number
  connections: number
  seconds: number
  /** Share of requests sent a second time, byte for byte. */
  resent: number
  /** Requests a second on a fixed schedule; null: each connection sends after each response. */
  rate: number | null
}

export type LoadResult = {
  requests: number
  /** Points of answered requests, without repeats. */
  points: number
  /** From the first request to the last response. */
  seconds: number
  /** Milliseconds from sending (with a fixed rate: from the due time) to the response. */
  ack: Spread
  /** Responses other than 200, by status; `0` counts broken connections. */
  failures: Record<string, number>
  /** CPU seconds of the load process. */
  processorSeconds: number
}
