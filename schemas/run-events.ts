import { type Static, Type } from 'typebox'
import { oneOf, timestamp } from './shared.ts'

const scalar = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()])

/** One thing that was decided about a run: a row of the audit without what only administrators see. */
export const runEvent = Type.Object({
  /** Names the event for ever; later events of a run have greater ones. */
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
