import { type Static, Type } from 'typebox'
import { oneOf, timestamp } from '../shared.ts'

const scalar = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()])

/** A decision about a run: a row of the audit without the fields that only administrators see. */
export const runEvent = Type.Object({
  /** A permanent id of the event; later events of a run have greater ones. */
  position: Type.Integer(),
  type: Type.String(),
  at: timestamp(),
  actor: Type.Object({ type: oneOf('user', 'run', 'system'), id: Type.String() }),
  /** One sentence, as in the audit. */
  summary: Type.String(),
  /** The small values of the event, such as `attempt`; larger ones are left out. */
  facts: Type.Record(Type.String(), Type.Union([scalar, Type.Array(scalar)])),
})
export type RunEvent = Static<typeof runEvent>
