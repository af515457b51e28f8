import { type Static, Type } from 'typebox'
import { keepRules, projectName } from '../jobs/jobspec.ts'
import { closed, nullable, oneOf } from '../shared.ts'
import { protections } from './artifacts.ts'

/** Maximum checkpoints that a call deletes or lists, and runs that it examines. */
export const retentionLimits = { artifacts: 500, runs: 50, named: 100 } as const

/** The body of `POST /api/admin/retention`. */
export const retentionInput = closed({
  dry_run: Type.Boolean({ default: true }),
  project: Type.Optional(projectName()),
  /** Absent: each job's own rules; runs without rules are not changed. */
  keep: Type.Optional(keepRules()),
  /** Only checkpoints registered at least this long ago. */
  older_than_days: Type.Optional(Type.Integer({ minimum: 1, maximum: 36_500 })),
  /** `next` of the previous call. */
  after: Type.Optional(Type.String({ minLength: 1, maxLength: 300 })),
})
export type RetentionInput = Static<typeof retentionInput>

const checkpoint = {
  artifact_id: Type.String(),
  step: nullable(Type.Integer()),
  path: Type.String(),
  size_bytes: nullable(Type.Integer({ minimum: 0 })),
}

const runRetention = Type.Object({
  run_id: Type.String(),
  short_id: Type.String(),
  project: Type.String(),
  /** Deleted now, or to be deleted by the same call without `dry_run`; the oldest first. */
  artifacts: Type.Array(
    Type.Object({
      ...checkpoint,
      bytes: Type.Union([Type.Literal('stored'), Type.Literal('left')]),
    }),
  ),
  freed_bytes: Type.Integer({ minimum: 0 }),
  /** The rules would delete these as well, but something needs them. */
  protected: Type.Array(
    Type.Object({
      ...checkpoint,
      protected_by: Type.Array(Type.Object({ type: oneOf(...protections), id: Type.String() })),
    }),
  ),
  protected_total: Type.Integer({ minimum: 0 }),
  /** How many checkpoints the rules keep. */
  kept: Type.Integer({ minimum: 0 }),
})
export type RunRetention = Static<typeof runRetention>

/** `next`: send it as `after` to continue; null at the end. */
export const retentionReport = Type.Object({
  dry_run: Type.Boolean(),
  runs: Type.Array(runRetention),
  artifacts: Type.Integer({ minimum: 0 }),
  freed_bytes: Type.Integer({ minimum: 0 }),
  next: nullable(Type.String()),
})
export type RetentionReport = Static<typeof retentionReport>
