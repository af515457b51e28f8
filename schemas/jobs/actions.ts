import { type Static, Type } from 'typebox'
import { closed, nullable, oneOf, timestamp } from '../shared.ts'
import { admissionResult, checkpoint, jobState, queueView, warning } from './jobs.ts'
import { displayName, tagList } from './jobspec.ts'

const reason = Type.Optional(nullable(Type.String({ maxLength: 1000 })))

export const jobAction = closed({
  reason,
  /** Kill at once, without a grace period. */
  force: Type.Optional(Type.Boolean({ default: false })),
  /** Seconds until it is killed; defaults to the job's `stop_grace_s`. */
  grace_s: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: 3600 }))),
})
export type JobAction = Static<typeof jobAction>

/**
 * `already`: an earlier request had started it; `deadline`: when the job is killed if it has not ended; `checkpoint`:
 * the one from which the next attempt would currently continue.
 */
export const jobActionReply = Type.Object({
  run_id: Type.String(),
  state: jobState(),
  accepted: Type.Literal(true),
  already: Type.Boolean(),
  deadline: nullable(timestamp()),
  checkpoint: nullable(checkpoint),
  warnings: Type.Array(warning),
})

/** Omitted fields keep their values. There is one queue. */
export const jobChange = closed({
  name: Type.Optional(displayName()),
  tags: Type.Optional(tagList()),
  priority: Type.Optional(Type.Integer({ minimum: -100, maximum: 100 })),
  queue: Type.Optional(oneOf('default')),
})

/** The job as changed; `place` is its place in the queue, null for a job that is not queued. */
export const jobChangeReply = Type.Object({
  run_id: Type.String(),
  name: Type.String(),
  tags: Type.Array(Type.String()),
  priority: Type.Integer(),
  queue: Type.String(),
  state: jobState(),
  place: nullable(queueView),
})

/** `env`: values for the new job, such as secrets, which are dropped when a job ends. */
export const jobRetry = closed({
  env: Type.Optional(
    Type.Record(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$' }), Type.String(), {
      maxProperties: 256,
      additionalProperties: false,
    }),
  ),
})

/** The admission of the new job; it continues from `checkpoint` of the old one, if any. */
export const jobRetryReply = Type.Object({
  ...admissionResult.properties,
  retry_of: Type.String(),
  checkpoint: nullable(checkpoint),
})
