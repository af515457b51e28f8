import { type Static, Type } from 'typebox'
import { type Quota, quota } from './quotas.ts'
import { role } from './sessions.ts'
import { closed, nameText, nullable, oneOf, pageQuery, timestamp } from './shared.ts'
import { toTimestamp } from './timestamp.ts'

const displayName = () => nullable(nameText(128))
const email = () => nullable(Type.String({ maxLength: 254, pattern: '^[^@\\s]+@[^@\\s]+$' }))
/** Null: a password is generated and shown once in the response. */
const password = () => nullable(Type.String({ minLength: 1, maxLength: 4096, 'x-secret': true }))

/** The body of `POST /api/admin/users`. */
export const userInput = closed({
  username: Type.String({ pattern: '^[a-z][a-z0-9_.-]{0,62}$' }),
  role: role(),
  password: Type.Optional(password()),
  display_name: Type.Optional(displayName()),
  email: Type.Optional(email()),
})
export type UserInput = Static<typeof userInput>

/** The body of `PATCH /api/admin/users/{username}`; absent fields keep their value. */
export const userChange = closed({
  role: Type.Optional(role()),
  disabled: Type.Optional(Type.Boolean()),
  password: Type.Optional(password()),
  display_name: Type.Optional(displayName()),
  email: Type.Optional(email()),
})
export type UserChange = Static<typeof userChange>

export const userPath = Type.Object({ username: Type.String({ maxLength: 256 }) })
export const userListQuery = closed(pageQuery)

/** The administrators' view of a person. */
export const user = Type.Object({
  username: Type.String(),
  role: role(),
  role_label: Type.String(),
  display_name: displayName(),
  email: email(),
  disabled: Type.Boolean(),
  created_at: timestamp(),
  last_login_at: nullable(timestamp()),
  /** How they sign in. */
  auth: oneOf('password', 'oidc'),
  second_factor: Type.Boolean(),
  quota,
})
export type User = Static<typeof user>

/** `password` is set only if it was generated, and shown in no other response. */
export const userWritten = Type.Object({ ...user.properties, password: nullable(Type.String()) })

/** Names of the roles in the console (specification, "Users and roles"). */
export const roleLabels = { admin: 'Admin', operator: 'Member' } as const

/** A row of `auth.person` without its password. */
export type PersonRow = Pick<
  User,
  'username' | 'role' | 'display_name' | 'email' | 'disabled' | 'second_factor'
> & {
  auth: User['auth']
  created_at: Date
  last_login_at: Date | null
}

export const userOf = (person: PersonRow, held: Quota): User => ({
  username: person.username,
  role: person.role,
  role_label: roleLabels[person.role],
  display_name: person.display_name,
  email: person.email,
  disabled: person.disabled,
  created_at: toTimestamp(person.created_at),
  last_login_at: person.last_login_at && toTimestamp(person.last_login_at),
  auth: person.auth,
  second_factor: person.second_factor,
  quota: held,
})
