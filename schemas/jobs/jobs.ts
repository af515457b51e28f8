import { type Static, Type } from 'typebox'
import { closed, nullable, oneOf, pageQuery, timestamp } from '../shared.ts'
import { bill } from '../usage.ts'
import { jobSpec } from './jobspec.ts'
import { type JobState, jobStates } from './states.ts'

export const endStates = ['succeeded', 'failed', 'stopped'] as const satisfies readonly JobState[]
export const isEnded = (state: JobState): boolean => endStates.some(ended => ended === state)

export const jobState = () => oneOf(...jobStates)

/** Progress of a starting attempt, reported by the running code. */
export const phases = [
  'provisioning',
  'pulling_image',
  'building_env',
  'pulling_weights',
  'launching',
] as const

/** Why a job waits. */
export const queueReasons = [
  'waiting_capacity',
  'quota_in_use',
  'over_budget',
  'team_pool_in_use',
  'volume_in_use',
  'behind_priority',
  'waiting_gang',
  'held_approval',
  'not_before',
  'retry_backoff',
  'queue_paused',
  'draining',
] as const
export type QueueReason = (typeof queueReasons)[number]

/** The gates of admission, in the order in which they run. */
export const gateNames = [
  'dialect',
  'recipe_handshake',
  'entrypoint_override',
  'image_registry',
  'quota',
  'team',
  'profile',
  'references',
  'params',
  'sensitive_file',
  'env',
] as const
export type GateName = (typeof gateNames)[number]

const facts = () => Type.Record(Type.String(), Type.Unknown())

export const gateResult = Type.Object({
  gate: oneOf(...gateNames),
  ok: Type.Boolean(),
  detail: Type.String(),
  data: Type.Optional(facts()),
  code: Type.Optional(Type.String()),
  hint: Type.Optional(Type.String()),
})
export type GateResult = Static<typeof gateResult>

export const warning = Type.Object({ code: Type.String(), detail: Type.String() })
export type Warning = Static<typeof warning>

export const estimate = Type.Object({
  gpu_hours: Type.String(),
  cost: Type.String(),
  currency: Type.String(),
  basis: Type.String(),
})
export type Estimate = Static<typeof estimate>

export const queueView = Type.Object({
  /** 1 starts next. */
  position: Type.Integer({ minimum: 1 }),
  ahead_gpus: Type.Integer({ minimum: 0 }),
  eta_s: nullable(Type.Object({ p50: Type.Number(), p90: Type.Number() })),
  reason: nullable(Type.String()),
})
export type QueueView = Static<typeof queueView>

/** The spec's references, resolved; stored with the job so that moving an alias does not affect it. */
export const resolved = Type.Object({
  init_from: nullable(
    Type.Object({ artifact_id: Type.String(), run_id: Type.String(), path: Type.String() }),
  ),
  datasets: Type.Array(Type.Object({ ref: Type.String(), digest: Type.String() })),
})
export type Resolved = Static<typeof resolved>

/** A registered checkpoint; `step` is null if its code reported none. */
export const checkpoint = Type.Object({
  artifact_id: Type.String(),
  path: Type.String(),
  step: nullable(Type.Integer()),
  registered_at: timestamp(),
})

const admission = Type.Object({
  admitted_at: timestamp(),
  gates: Type.Array(gateResult),
  warnings: Type.Array(warning),
})

/** The response of `POST /api/jobs` (specification, "Jobs and runs": admission result). */
export const admissionResult = Type.Object({
  run_id: Type.String(),
  job_id: Type.String(),
  short_id: Type.String(),
  project: Type.String(),
  state: jobState(),
  state_reason: nullable(Type.String()),
  dialect: Type.String(),
  spec_digest: Type.String(),
  admission,
  queue: nullable(queueView),
  estimate: nullable(estimate),
  resolved,
  urls: Type.Object({ console: Type.String(), logs: Type.String(), metrics: Type.String() }),
})
export type AdmissionResult = Static<typeof admissionResult>

export const preflightResult = Type.Object({
  ok: Type.Boolean(),
  gates: Type.Array(gateResult),
  warnings: Type.Array(warning),
  estimate: nullable(estimate),
  queue: nullable(queueView),
})

const conditions = Type.Array(Type.String())

/** A row of `GET /api/jobs`. `started_at` is the reported `running`: the billing start. */
export const jobRow = Type.Object({
  run_id: Type.String(),
  job_id: Type.String(),
  short_id: Type.String(),
  name: Type.String(),
  project: Type.String(),
  owner: Type.String(),
  team: nullable(Type.String()),
  kind: Type.String(),
  state: jobState(),
  state_reason: nullable(Type.String()),
  phase: nullable(Type.String()),
  conditions,
  recipe: Type.Object({ name: Type.String(), version: Type.String() }),
  profile: Type.String(),
  series: Type.String(),
  gpus: Type.Integer({ minimum: 0 }),
  nodes: Type.Integer({ minimum: 1 }),
  priority: Type.Integer(),
  preemptible: Type.Boolean(),
  attempt: Type.Integer({ minimum: 0 }),
  max_attempts: Type.Integer({ minimum: 1 }),
  queue: nullable(queueView),
  progress: nullable(
    Type.Object({
      step: nullable(Type.Integer()),
      total_steps: nullable(Type.Integer()),
      fraction: nullable(Type.Number()),
      eta_s: nullable(Type.Number()),
    }),
  ),
  submitted_at: timestamp(),
  admitted_at: timestamp(),
  scheduled_at: nullable(timestamp()),
  executor_running_at: nullable(timestamp()),
  started_at: nullable(timestamp()),
  ended_at: nullable(timestamp()),
  queued_s: nullable(Type.Number()),
  starting_s: nullable(Type.Number()),
  running_s: nullable(Type.Number()),
  gpu_hours: Type.String(),
  cost: Type.String(),
  currency: Type.String(),
  exit_code: nullable(Type.Integer()),
  diagnosis: nullable(facts()),
  tags: Type.Array(Type.String()),
  init_from: nullable(Type.String()),
  updated_at: timestamp(),
})
export type JobRow = Static<typeof jobRow>

export const jobAttempt = Type.Object({
  attempt: Type.Integer({ minimum: 1 }),
  nodes: Type.Array(Type.String()),
  started_at: nullable(timestamp()),
  ended_at: nullable(timestamp()),
  end_reason: nullable(Type.String()),
  exit_code: nullable(Type.Integer()),
  resume_from: nullable(Type.String()),
  gpu_hours: Type.String(),
})

export const jobTransition = Type.Object({
  at: timestamp(),
  /** Seconds until the next change; null for the newest one. */
  spent_s: nullable(Type.Integer({ minimum: 0 })),
  from: nullable(jobState()),
  to: jobState(),
  reason: nullable(Type.String()),
  actor: Type.String(),
  event_id: Type.String(),
})

/** `GET /api/jobs/{run_id}`. */
export const jobDetail = Type.Object({
  ...jobRow.properties,
  spec: jobSpec,
  admission,
  /** The current value. */
  price_per_gpu_hour: Type.String(),
  bill,
  attempts: Type.Array(jobAttempt),
  transitions: Type.Array(jobTransition),
  /** The checkpoint from which the next attempt continues, unless `spec.retry.resume` is `none`. */
  checkpoint: nullable(checkpoint),
  holds: Type.Array(Type.Object({ reason: Type.String(), until: nullable(timestamp()) })),
  control: Type.Object({
    action: Type.String(),
    reason: nullable(Type.String()),
    deadline: nullable(timestamp()),
  }),
})

export const jobListQuery = closed({
  ...pageQuery,
  state: Type.Optional(Type.String({ maxLength: 200 })),
  project: Type.Optional(Type.String({ maxLength: 128 })),
  owner: Type.Optional(Type.String({ maxLength: 128 })),
  team: Type.Optional(Type.String({ maxLength: 128 })),
  recipe: Type.Optional(Type.String({ maxLength: 128 })),
  series: Type.Optional(Type.String({ maxLength: 64 })),
  q: Type.Optional(Type.String({ maxLength: 200 })),
  since: Type.Optional(timestamp()),
  until: Type.Optional(timestamp()),
  sort: Type.Optional(Type.String({ maxLength: 64 })),
})
