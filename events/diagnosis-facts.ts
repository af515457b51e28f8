import type { JobSpec } from '../schemas/jobspec.ts'
import type { LogLine } from '../schemas/logs.ts'

/** How the attempt ended; null fields are unknown. */
export type EndFacts = {
  /** Of the job, e.g. `oom_killed`, `limit`; `reported` for a run whose code said so. */
  reason: string | null
  /** What its code, the engine or a person said. */
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

/** What people and machines reported while the run went on. */
export type Observed = {
  /** The newest lines of the attempt, in order. */
  lines: readonly LogLine[]
  metrics: readonly MetricFacts[]
  hardware: readonly HardwarePoint[]
}

/** All that a diagnosis rests on. Times are epoch milliseconds. */
export type DiagnosisFacts = Observed & {
  /** Of the run: `running`, `failed`, … */
  state: string
  attempt: number | null
  end: EndFacts
  /** Null for runs without a job. */
  spec: JobSpec | null
  /** Those of the spec, merged over the recipe's defaults. */
  params: Record<string, unknown>
  started_ms: number | null
  /** Of its end, or now. */
  until_ms: number
}

/** Which attempt of a run to read about; of a run that has ended, everything it reported before its end. */
export type Observing = { run_id: string; attempt: number | null; isEnded: boolean }
export type Observe = (observing: Observing, signal: AbortSignal) => Promise<Observed>
