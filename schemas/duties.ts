import { type Static, Type } from 'typebox'
import { nullable, oneOf, pageQuery, timestamp } from './shared.ts'

/**
 * `waiting`: due later; `due`: to be performed now; `leased`: being performed; `parked`: waiting for a person's
 * decision; `done` and `dropped` for seven days.
 */
const dutyState = () => oneOf('waiting', 'due', 'leased', 'parked', 'done', 'dropped')

export const dutyQuery = Type.Object({
  ...pageQuery,
  /** Absent: all duties that are neither done nor dropped. */
  state: Type.Optional(dutyState()),
  reactor: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
})
export type DutyQuery = Static<typeof dutyQuery>

export const dutyPath = Type.Object({
  duty_id: Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' }),
})

export const duty = Type.Object({
  duty_id: Type.String(),
  reactor: Type.String(),
  state: dutyState(),
  /** The stream whose event asked for it, or `schedule <name>`. */
  cause: Type.String(),
  request_id: Type.String(),
  created_at: timestamp(),
  due_at: timestamp(),
  /** Attempts since it was created, or last retried by a person. */
  attempts: Type.Integer(),
  last_error: nullable(Type.String()),
  /** When it was parked, done or dropped. */
  ended_at: nullable(timestamp()),
})
export type DutyRow = Static<typeof duty>

export const dutyList = Type.Array(duty)
