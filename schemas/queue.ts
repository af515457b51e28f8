import { type Static, Type } from 'typebox'
import { jobState, queueView } from './jobs/jobs.ts'
import { closed, nullable, pageQuery, timestamp } from './shared.ts'

const reason = () => Type.Optional(nullable(Type.String({ maxLength: 1000 })))

/** The body of `PUT /api/admin/queue`. */
export const queueSwitchInput = closed({ paused: Type.Boolean(), reason: reason() })

/** The body of `PUT /api/admin/engines/{engine}`. */
export const drainInput = closed({ draining: Type.Boolean(), reason: reason() })
export const enginePath = Type.Object({
  engine: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$' }),
})

/** An executor by its name, or one of its machines by its id. */
export const engineRow = Type.Object({
  engine: Type.String(),
  draining: Type.Boolean(),
  reason: nullable(Type.String()),
  since: nullable(timestamp()),
  by: nullable(Type.String()),
  /** Attempts that may still run there. */
  running_jobs: Type.Integer({ minimum: 0 }),
})

/** `GET /api/admin/queue`. `changed_at` and `changed_by` are null if the queue was never paused. */
export const queueSwitches = Type.Object({
  paused: Type.Boolean(),
  reason: nullable(Type.String()),
  changed_at: nullable(timestamp()),
  changed_by: nullable(Type.String()),
  engines: Type.Array(engineRow),
})

export const queueQuery = closed(pageQuery)

/** A job that waits, in the queue or held. */
export const queueRow = Type.Object({
  /** 1 starts next; null for a job that is held. */
  position: nullable(Type.Integer({ minimum: 1 })),
  run_id: Type.String(),
  short_id: Type.String(),
  name: Type.String(),
  project: Type.String(),
  owner: Type.String(),
  state: jobState(),
  /** One of the queue's reasons, `detail` in words. */
  reason: nullable(Type.String()),
  detail: Type.String(),
  gpus: Type.Integer({ minimum: 0 }),
  profile: Type.String(),
  series: Type.String(),
  executor: Type.String(),
  priority: Type.Integer(),
  submitted_at: timestamp(),
  not_before: nullable(timestamp()),
  ahead_gpus: nullable(Type.Integer({ minimum: 0 })),
  eta_s: queueView.properties.eta_s,
})
export type QueueRow = Static<typeof queueRow>

const closedEngine = Type.Object({
  engine: Type.String(),
  reason: nullable(Type.String()),
  since: nullable(timestamp()),
})

/** `GET /api/queue`: `jobs` in the order of their expected start, then held jobs. */
export const queueList = Type.Object({
  /** Null while jobs start. */
  paused: nullable(Type.Object({ reason: nullable(Type.String()), since: nullable(timestamp()) })),
  draining: Type.Array(closedEngine),
  /** All waiting jobs, including ones the caller may not see; `hidden` counts these. */
  waiting: Type.Object({
    jobs: Type.Integer({ minimum: 0 }),
    gpus: Type.Integer({ minimum: 0 }),
    hidden: Type.Integer({ minimum: 0 }),
  }),
  jobs: Type.Array(queueRow),
})

/** What would start a job sooner: `kind` for programs, `detail` in words. */
export const sooner = Type.Object({
  kind: Type.String(),
  detail: Type.String(),
  gpus: Type.Optional(Type.Integer({ minimum: 0 })),
  profile: Type.Optional(Type.String()),
  run_ids: Type.Optional(Type.Array(Type.String())),
})
export type Sooner = Static<typeof sooner>

const aheadRow = Type.Object({
  position: Type.Integer({ minimum: 1 }),
  run_id: Type.String(),
  short_id: Type.String(),
  owner: Type.String(),
  gpus: Type.Integer({ minimum: 0 }),
  reason: nullable(Type.String()),
})

/** Null ids: a job that the caller may not see. */
const endRow = Type.Object({
  run_id: nullable(Type.String()),
  short_id: nullable(Type.String()),
  owner: nullable(Type.String()),
  gpus: Type.Integer({ minimum: 0 }),
  profile: Type.String(),
  /** Estimated; null if too few similar jobs have ended. */
  left_s: nullable(Type.Integer({ minimum: 0 })),
})

/** `GET /api/queue/{run_id}`. */
export const queueExplanation = Type.Object({
  run_id: Type.String(),
  short_id: Type.String(),
  state: jobState(),
  position: nullable(Type.Integer({ minimum: 1 })),
  reason: nullable(Type.String()),
  detail: Type.String(),
  eta_s: queueView.properties.eta_s,
  /** `first`: the first ones that the caller may see, at most 20. */
  ahead: Type.Object({
    jobs: Type.Integer({ minimum: 0 }),
    gpus: Type.Integer({ minimum: 0 }),
    hidden: Type.Integer({ minimum: 0 }),
    first: Type.Array(aheadRow),
  }),
  sooner: Type.Array(sooner),
  /** Jobs that hold GPUs of its executor, in order of their expected end; at most 20. */
  ends_next: Type.Array(endRow),
})
export type QueueExplanation = Static<typeof queueExplanation>
