import { type Static, Type } from 'typebox'
import { closed, nullable, oneOf, pageQuery, timestamp } from './shared.ts'

/** `job:run_01J…`, `user:alice`, `rubric:alice/helpful`. */
const target = () => Type.String({ pattern: '^[a-z][a-z_]*:.', maxLength: 512 })

const filters = {
  /** A name or id, or with its kind in front: `user:alice`. */
  actor: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  /** A type of event, or all of a family: `job.*`. */
  type: Type.Optional(
    Type.String({ pattern: '^[a-z][a-z_]*\\.(\\*|[a-z][a-z_]*)$', maxLength: 64 }),
  ),
  target: Type.Optional(target()),
  request_id: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  /** From this instant on, and before that one. */
  since: Type.Optional(timestamp()),
  until: Type.Optional(timestamp()),
}
export const auditQuery = closed({ ...filters, ...pageQuery })
export type AuditQuery = Static<typeof auditQuery>

export const auditRow = Type.Object({
  position: Type.Integer(),
  event_id: Type.String(),
  type: Type.String(),
  target: Type.Object({ type: Type.String(), id: Type.String() }),
  /** `via` is the credential: `password`, `device`, `oidc`, `ingest_token`; of the system, what woke it. */
  actor: Type.Object({
    type: oneOf('user', 'run', 'system'),
    id: Type.String(),
    via: Type.String(),
  }),
  at: timestamp(),
  /** `at` to the millisecond. */
  occurred_at: timestamp(),
  request_id: Type.String(),
  causation_id: nullable(Type.String()),
  /** Of the target: 1 for the first event. */
  version: Type.Integer(),
  summary: Type.String(),
  /** In today's shape of the event, whatever it was recorded in. */
  data: Type.Record(Type.String(), Type.Unknown()),
})
export type AuditRow = Static<typeof auditRow>

/** An instant without a fraction means the whole second; without `at` it is now. */
export const auditStateQuery = closed({ target: target(), at: Type.Optional(timestamp()) })

/** `version` 0 and `state` null: the target did not exist yet. */
export const auditState = Type.Object({
  target: Type.String(),
  at: timestamp(),
  version: Type.Integer(),
  state: Type.Unknown(),
})
export type AuditState = Static<typeof auditState>

export const auditDiffQuery = closed({ target: target(), from: timestamp(), to: timestamp() })

export const auditDiff = Type.Object({
  target: Type.String(),
  from: timestamp(),
  to: timestamp(),
  changes: Type.Array(
    Type.Object({
      /** A JSON Pointer (RFC 6901) into the state. */
      path: Type.String(),
      from: Type.Unknown(),
      to: Type.Unknown(),
    }),
  ),
  /** How many events lie between; `events` are the first 500 of them. */
  event_count: Type.Integer(),
  events: Type.Array(auditRow),
})
export type AuditDiff = Static<typeof auditDiff>

export const auditVerifyQuery = closed({
  /** A `head` that was kept: the chain must still pass through it. */
  head: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}@\\d{1,15}$' })),
})

const auditFault = Type.Object({
  /**
   * `rewritten`: the chain is sound, but not the one of the head that was kept; `truncated`: the newest events
   * are gone.
   */
  kind: oneOf('changed', 'deleted', 'inserted', 'reordered', 'truncated', 'rewritten'),
  position: Type.Integer(),
  detail: Type.String(),
})
export type AuditFault = Static<typeof auditFault>

export const auditVerdict = Type.Object({
  ok: Type.Boolean(),
  /** Events that are as they were recorded, from the first one on. */
  checked: Type.Integer(),
  first_bad: nullable(auditFault),
  /** `HASH@POSITION` of the newest link; null before the first. To be kept elsewhere. */
  head: nullable(Type.String()),
  /** Events that are committed but not on the chain yet. */
  waiting: Type.Integer(),
})
export type AuditVerdict = Static<typeof auditVerdict>
