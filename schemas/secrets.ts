import { type Static, Type } from 'typebox'
import { secretLimits } from './secret-limits.ts'
import { closed, pageQuery, timestamp } from './shared.ts'

/** A name of an environment variable that a job may set; other names are refused with the reason. */
export const secretPath = Type.Object({ name: Type.String({ minLength: 1, maxLength: 128 }) })

/** The body of `PUT /api/secrets/{name}`: at most 16,384 bytes as UTF-8, without null characters. */
export const secretInput = closed({
  value: Type.String({ minLength: 1, maxLength: secretLimits.bytes, 'x-secret': true }),
})

/** The reply never contains the value. `created`: there was none of this name. */
export const secretSet = Type.Object({
  name: Type.String(),
  set_at: timestamp(),
  created: Type.Boolean(),
})

export const secretRemoved = Type.Object({ name: Type.String(), removed: Type.Literal(true) })

/** A row of `GET /api/secrets`; nothing returns a value. */
export const secretRow = Type.Object({
  name: Type.String(),
  created_at: timestamp(),
  /** When its current value was set. */
  set_at: timestamp(),
  /** One's own unfinished jobs that name it, the newest 20; their next attempts would fail without it. */
  needed_by: Type.Array(Type.Object({ run_id: Type.String(), short_id: Type.String() })),
})
export type SecretRow = Static<typeof secretRow>

export const secretListQuery = closed(pageQuery)
