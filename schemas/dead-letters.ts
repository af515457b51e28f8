import { type Static, Type } from 'typebox'
import { nullable, pageQuery, timestamp } from './shared.ts'

export const letterPath = Type.Object({
  letter_id: Type.String({
    pattern: '^[A-Za-z0-9._-]{1,200}:[0-9]{1,9}:[0-9]{1,15}$',
  }),
})

/** A record of the log that a projection could not apply and set aside. */
export const deadLetter = Type.Object({
  /** `<topic>:<partition>:<offset>`. */
  letter_id: Type.String(),
  topic: Type.String(),
  partition: Type.Integer(),
  offset: Type.Integer(),
  /** The run that reported it. */
  key: Type.String(),
  error: Type.String(),
  bytes: Type.Integer(),
})

export type DeadLetter = Static<typeof deadLetter>

export const deadLetterQuery = Type.Object({
  ...pageQuery,
  topic: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  run_id: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
})

/** Adds the fields of its envelope, null if unreadable, and the record itself in base64. */
export const deadLetterDetail = Type.Object({
  ...deadLetter.properties,
  type: nullable(Type.String()),
  event_id: nullable(Type.String()),
  received_at: nullable(timestamp()),
  attempt: nullable(Type.Integer()),
  request_id: nullable(Type.String()),
  value: Type.String(),
})

export const deadLetterReply = Type.Object({
  letter_id: Type.String(),
  state: Type.Union([Type.Literal('replayed'), Type.Literal('dropped')]),
})
