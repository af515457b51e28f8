import type { Spread } from '../rig/quantile.ts'

/** What one load process is to do. */
export type Plan = {
  host: string
  port: number
  /** Requests go to these in turn; each connection keeps to its own share of them. */
  runs: readonly { run_id: string; token: string }[]
  points: number
  connections: number
  seconds: number
  /** Share of requests sent a second time, byte for byte. */
  resent: number
  /** Requests a second, on a fixed schedule; null: each connection sends as soon as it was answered. */
  rate: number | null
}

export type LoadResult = {
  requests: number
  /** Points of answered requests, repeats left out. */
  points: number
  /** From the first request to the last answer. */
  seconds: number
  /** Milliseconds from sending (with a fixed rate: from the time it was due) to the answer. */
  ack: Spread
  /** Answers that were not 200, by status; `0` counts broken connections. */
  failures: Record<string, number>
  /** Processor time of the load process itself. */
  processorSeconds: number
}
