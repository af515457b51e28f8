import type { JobSpec } from '../schemas/jobs/jobspec.ts'
import type { LogLine } from '../schemas/logs.ts'

/** How the attempt ended; null fields are unknown. */
export type EndFacts = {
  /** The job's reason, e.g. `oom_killed`, `limit`; `reported` for a run whose code reported it. */
  reason: string | null
  /** The message of its code, the engine or a person. */
  message: string | null
  exit_code: number | null
  signal: string | null
  oom_killed: boolean
  launch_error: string | null
}

/** One metric with its newest points, in the order of their steps. */
export type MetricFacts = {
  key: string
  points: readonly { step: number; value: number; ts: number }[]
}

/** A sample of one device, or of a machine if `index` is null. */
export type HardwarePoint = {
  /** Epoch milliseconds. */
  ts: number
  node: string | null
  index: number | null
  /** E.g. `memory_percent`, `utilization_percent`, `xid`, `ecc_uncorrected`. */
  name: string
  value: number
}

/** Reports of the run's code and machines. */
export type Observed = {
  /** The newest lines of the attempt, in order. */
  lines: readonly LogLine[]
  metrics: readonly MetricFacts[]
  hardware: readonly HardwarePoint[]
}

/** Everything a diagnosis is based on. Times are epoch milliseconds. */
export type DiagnosisFacts = Observed & {
  /** The state of the run: `running`, `failed`, … */
  state: string
  attempt: number | null
  end: EndFacts
  /** Null for runs without a job. */
  spec: JobSpec | null
  /** Parameters of the spec, merged over the recipe's defaults. */
  params: Record<string, unknown>
  started_ms: number | null
  /** When it ended, or now. */
  until_ms: number
}

/** The attempt of a run to read; for an ended run, includes everything reported before its end. */
export type Observing = { run_id: string; attempt: number | null; isEnded: boolean }
export type Observe = (observing: Observing, signal: AbortSignal) => Promise<Observed>
