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
  /** `since` is inclusive, `until` exclusive. */
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
  /** `via` is the credential: `password`, `device`, `oidc`, `ingest_token`; for the system, what triggered it. */
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
  /** Version of the target: 1 for its first event. */
  version: Type.Integer(),
  summary: Type.String(),
  /** Upcast to the newest shape of the event type. */
  data: Type.Record(Type.String(), Type.Unknown()),
})
export type AuditRow = Static<typeof auditRow>

/** An instant without a fraction means the end of that second; `at` defaults to now. */
export const auditStateQuery = closed({ target: target(), at: Type.Optional(timestamp()) })

/** `version` 0 with `state` null means that the target did not exist yet. */
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
  /** Number of events between the two instants; `events` holds the first 500. */
  event_count: Type.Integer(),
  events: Type.Array(auditRow),
})
export type AuditDiff = Static<typeof auditDiff>

export const auditVerifyQuery = closed({
  /** A `head` saved earlier: the chain must still pass through it. */
  head: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}@\\d{1,15}$' })),
})

const auditFault = Type.Object({
  /**
   * `rewritten`: the chain is consistent but does not contain the saved head; `truncated`: the newest events
   * are gone.
   */
  kind: oneOf('changed', 'deleted', 'inserted', 'reordered', 'truncated', 'rewritten'),
  position: Type.Integer(),
  detail: Type.String(),
})
export type AuditFault = Static<typeof auditFault>

export const auditVerdict = Type.Object({
  ok: Type.Boolean(),
  /** Number of unchanged events, counted from the first. */
  checked: Type.Integer(),
  first_bad: nullable(auditFault),
  /** `HASH@POSITION` of the newest link, to be saved elsewhere; null before the first event. */
  head: nullable(Type.String()),
  /** Committed events that are not on the chain yet. */
  waiting: Type.Integer(),
})
export type AuditVerdict = Static<typeof auditVerdict>
