import { Type } from 'typebox'
import { type EventOf, event } from './event.ts'

const role = () => Type.Union([Type.Literal('admin'), Type.Literal('operator')])

/** A person may sign in. Neither password nor e-mail address is ever part of an event. */
export const userCreated = event(
  'user.created',
  Type.Object({ username: Type.String(), role: role(), auth: Type.String() }),
)

/** Who this person is at an identity provider, and only that: names and addresses change hands. */
export const userIdentityLinked = event(
  'user.identity_linked',
  Type.Object({ username: Type.String(), issuer: Type.String(), subject: Type.String() }),
)

/** A person signed in; `via` is `password`, `device` or `oidc`. */
export const userLogin = event(
  'user.login',
  Type.Object({ username: Type.String(), sid: Type.String(), via: Type.String() }),
)

/** A person set their own password; the sessions they had ended, but for the one that did it. */
export const userPasswordChanged = event(
  'user.password_changed',
  Type.Object({ username: Type.String() }),
)

const session = () => Type.Object({ username: Type.String(), sid: Type.String() })

/** A person signed out of a session. */
export const userLogout = event('user.logout', session())

/** A person ended one of their sessions from another. */
export const userSessionRevoked = event('user.session_revoked', session())

/** A refresh token came that somebody had gone on from: it was stolen, so its session ended. */
export const userRefreshReused = event('user.refresh_reused', session())

/** Holds at once: access tokens of the previous role are refused, a refresh brings one of the new role. */
export const userRoleChanged = event(
  'user.role_changed',
  Type.Object({ username: Type.String(), role: role(), previous: role() }),
)

/** A person may no longer sign in; their sessions and the tokens of their external runs have ended. */
export const userDisabled = event('user.disabled', Type.Object({ username: Type.String() }))

/** A person may sign in again; what had ended stays ended. */
export const userEnabled = event('user.enabled', Type.Object({ username: Type.String() }))

/** An administrator set another's password; that person's sessions have ended. */
export const userPasswordReset = event(
  'user.password_reset',
  Type.Object({ username: Type.String() }),
)

/** Which fields of the profile have another value now; the values are personal data and not told. */
export const userProfileChanged = event(
  'user.profile_changed',
  Type.Object({
    username: Type.String(),
    fields: Type.Array(Type.Union([Type.Literal('display_name'), Type.Literal('email')])),
  }),
)

export const userEvents = [
  userCreated,
  userIdentityLinked,
  userLogin,
  userPasswordChanged,
  userLogout,
  userSessionRevoked,
  userRefreshReused,
  userRoleChanged,
  userDisabled,
  userEnabled,
  userPasswordReset,
  userProfileChanged,
] as const
export type UserEvent = EventOf<(typeof userEvents)[number]>
export const userStream = (username: string) => `user-${username}`
