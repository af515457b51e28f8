import type { Wait } from '../terminal/waits.ts'

/**
 * The parts of the API's responses that commands read. Other fields, including later additions, pass through
 * `--json` unchanged, and unknown words are shown unchanged.
 */

type RunIdentity = {
  run_id: string
  short_id: string
  name: string | null
  project: string
  owner: string
  state: string
}

export type JobRow = RunIdentity & {
  state_reason: string | null
  phase: string | null
  conditions: string[]
  recipe: { name: string; version: string } | null
  profile: string
  series: string
  gpus: number
  nodes: number
  priority: number
  attempt: number
  max_attempts: number
  queue: { position: number | null; eta_s: Wait | null } | null
  progress: { step: number; total_steps: number | null; eta_s: number | null } | null
  submitted_at: string
  started_at: string | null
  ended_at: string | null
  running_s: number | null
  gpu_hours: string
  cost: string | null
  currency: string
  exit_code: number | null
}

export type Transition = { at: string; from: string | null; to: string; reason: string | null }
export type JobAttempt = {
  attempt: number
  nodes: string[]
  started_at: string | null
  ended_at: string | null
  end_reason: string | null
  resume_from: string | null
}
export type JobDetail = JobRow & {
  transitions: Transition[]
  attempts: JobAttempt[]
  checkpoint: { artifact_id: string; path: string; step: number | null } | null
  spec: { spec: { params: Record<string, unknown> } }
}

export type MetricSummary = {
  last: number | string
  min: number | null
  max: number | null
  step: number
  count: number
}

export type RunRecord = RunIdentity & {
  source: string
  recipe: { name: string; version: string } | null
  created_at: string
  started_at: string | null
  ended_at: string | null
  duration_s: number | null
  last_report_at: string | null
  /** Servers of earlier versions have none. */
  silent_since?: string | null
  exit_code: number | null
  signal: string | null
  message: string | null
  why: string | null
  summary: Record<string, MetricSummary>
  /** Null for an external run; servers of earlier versions do not name it. */
  job_state?: string | null
  hparams: Record<string, unknown>
  /** Servers of earlier versions have none. */
  labels?: Record<string, string>
  counts: { alerts: number }
  logs: { bytes: number }
  tags: string[]
  notes: string
  starred: boolean
  archived: boolean
}

/** A line of a run's log; `ts` is epoch milliseconds. */
export type LogLine = {
  seq: number
  ts: number
  attempt: number | null
  node: string | null
  rank: number | null
  stream: string
  text: string
}

export type MetricKey = {
  key: string
  count: number
  last: number | string | null
  min: number | string | null
  max: number | string | null
  first_step: number
  last_step: number
}

type Value = number | string | null
export type MetricSeries = {
  key: string
  bucketed: boolean
  points: [step: number, min: Value, max: Value, mean: Value, last: Value, ts: number][]
}

export type Gate = { gate: string; ok: boolean; detail: string }
export type Admission = {
  run_id: string
  short_id: string
  state: string
  state_reason: string | null
  admission: { gates: Gate[]; warnings: { code: string; detail: string }[] }
  queue: { position: number | null; eta_s: Wait | null } | null
  urls: { console: string }
}

/** Frames of the streams. */
export type StateFrame = { run_id: string; state: string; state_reason: string | null; at: string }
export type PointsFrame = { points: { key: string; step: number; value: Value; ts: number }[] }
export type EofFrame = { run_id: string; state: string }

const endStates = ['succeeded', 'failed', 'stopped', 'abandoned']
export const isEnded = (state: string): boolean => endStates.includes(state)
