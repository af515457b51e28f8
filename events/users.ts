import { Type } from 'typebox'
import { aggregate, type EventOf, event } from './event.ts'

const role = () => Type.Union([Type.Literal('admin'), Type.Literal('operator')])

/** A person may sign in. Neither password nor e-mail address is ever part of an event. */
export const userCreated = event(
  'user.created',
  Type.Object({ username: Type.String(), role: role(), auth: Type.String() }),
  ({ username, role, auth }, who) =>
    `${who} created the ${role} ${username}, who signs in via ${auth}`,
)

/** A person's permanent identity at an identity provider; names and addresses can pass to other people. */
export const userIdentityLinked = event(
  'user.identity_linked',
  Type.Object({ username: Type.String(), issuer: Type.String(), subject: Type.String() }),
  ({ username, issuer }) => `${username} first signed in through the identity provider ${issuer}`,
)

/** A person signed in; `via` is `password`, `device` or `oidc`. */
export const userLogin = event(
  'user.login',
  Type.Object({ username: Type.String(), sid: Type.String(), via: Type.String() }),
  ({ username, via }) => `${username} signed in via ${via}`,
)

/** A person changed their own password; all their sessions except the current one ended. */
export const userPasswordChanged = event(
  'user.password_changed',
  Type.Object({ username: Type.String() }),
  ({ username }, who) => `${who} changed the password of ${username}`,
)

const session = () => Type.Object({ username: Type.String(), sid: Type.String() })

/** A person signed out of a session. */
export const userLogout = event('user.logout', session(), (_, who) => `${who} signed out`)

/** A person ended one of their sessions from another. */
export const userSessionRevoked = event(
  'user.session_revoked',
  session(),
  ({ sid }, who) => `${who} ended the session ${sid} from another session`,
)

/** A person proved again who they are, in a session that they opened earlier. */
export const userSessionConfirmed = event(
  'user.session_confirmed',
  session(),
  ({ username, sid }) => `${username} confirmed their password in the session ${sid}`,
)

/** A refresh token was presented after its use, so one of the two presenters stole it; its session ended. */
export const userRefreshReused = event(
  'user.refresh_reused',
  session(),
  ({ username }) =>
    `A used refresh token of ${username} was presented again: its session was ended as stolen`,
)

/** The identity provider no longer vouches for a person; the session that asked it has ended. */
export const userSessionWithdrawn = event(
  'user.session_withdrawn',
  session(),
  ({ username }) =>
    `The identity provider no longer confirms ${username}: one of their sessions was ended`,
)

/** The identity provider withdrew the role of the last enabled admin, who therefore keeps it. */
export const userRoleKept = event(
  'user.role_kept',
  Type.Object({ username: Type.String(), role: role() }),
  ({ username, role }) =>
    `${username} stays ${role} although the identity provider withdrew the role, because nobody else has it`,
)

/** Applies at once: access tokens of the previous role are refused; a refresh gives one of the new role. */
export const userRoleChanged = event(
  'user.role_changed',
  Type.Object({ username: Type.String(), role: role(), previous: role() }),
  ({ username, role, previous }, who) =>
    `${who} changed the role of ${username} from ${previous} to ${role}`,
)

/** A person may no longer sign in; their sessions and the tokens of their external runs have ended. */
export const userDisabled = event(
  'user.disabled',
  Type.Object({ username: Type.String() }),
  ({ username }, who) => `${who} disabled ${username} and ended their sessions`,
)

/** A person may sign in again; ended sessions and tokens stay ended. */
export const userEnabled = event(
  'user.enabled',
  Type.Object({ username: Type.String() }),
  ({ username }, who) => `${who} enabled ${username} again`,
)

/** An administrator set another person's password; that person's sessions have ended. */
export const userPasswordReset = event(
  'user.password_reset',
  Type.Object({ username: Type.String() }),
  ({ username }, who) => `${who} set a new password for ${username} and ended their sessions`,
)

/** The changed fields of a profile, without their values, which are personal data. */
export const userProfileChanged = event(
  'user.profile_changed',
  Type.Object({
    username: Type.String(),
    fields: Type.Array(Type.Union([Type.Literal('display_name'), Type.Literal('email')])),
  }),
  ({ username, fields }, who) =>
    `${who} changed the ${fields.map(field => field.replace('_', ' ')).join(' and ')} of ${username}`,
)

const person = () => Type.Object({ username: Type.String() })

/** From now on signing in takes a code besides the password; the person's other sessions have ended. */
export const userSecondFactorSetUp = event(
  'user.second_factor_set_up',
  Type.Object({ username: Type.String(), method: Type.Literal('totp') }),
  ({ username }, who) => `${who} set up an authenticator as the second factor of ${username}`,
)

/** Signing in takes the password alone again; the recovery codes are gone. */
export const userSecondFactorRemoved = event(
  'user.second_factor_removed',
  person(),
  ({ username }, who) => `${who} removed the second factor of ${username}`,
)

/** A recovery code stood in for the authenticator at a sign-in; it is spent. */
export const userRecoveryCodeUsed = event(
  'user.recovery_code_used',
  person(),
  ({ username }) => `${username} signed in with a recovery code`,
)

const passkey = () => Type.Object({ username: Type.String(), passkey_id: Type.String() })

export const userPasskeyRegistered = event(
  'user.passkey_registered',
  Type.Object({ username: Type.String(), passkey_id: Type.String(), name: Type.String() }),
  ({ username, name }, who) => `${who} registered the passkey ${name} of ${username}`,
)

export const userPasskeyRemoved = event(
  'user.passkey_removed',
  passkey(),
  ({ username, passkey_id }, who) => `${who} removed the passkey ${passkey_id} of ${username}`,
)

/** Its count of signatures fell behind, so that another authenticator may have a copy of its key. */
export const userPasskeyRefused = event(
  'user.passkey_refused',
  passkey(),
  ({ username, passkey_id }) =>
    `the passkey ${passkey_id} of ${username} was refused, because its count fell behind: it may have been copied`,
)

const events = [
  userCreated,
  userIdentityLinked,
  userLogin,
  userPasswordChanged,
  userLogout,
  userSessionRevoked,
  userSessionConfirmed,
  userRefreshReused,
  userSessionWithdrawn,
  userRoleKept,
  userRoleChanged,
  userDisabled,
  userEnabled,
  userPasswordReset,
  userProfileChanged,
  userSecondFactorSetUp,
  userSecondFactorRemoved,
  userRecoveryCodeUsed,
  userPasskeyRegistered,
  userPasskeyRemoved,
  userPasskeyRefused,
] as const
export type UserEvent = EventOf<(typeof events)[number]>

export type Role = 'admin' | 'operator'

/** Null before the person was created. */
export type User = { role: Role; isDisabled: boolean } | null

function evolve(user: User, event: UserEvent): User {
  switch (event.type) {
    case 'user.created':
      return { role: event.data.role, isDisabled: false }
    case 'user.role_changed':
      return user && { ...user, role: event.data.role }
    case 'user.disabled':
      return user && { ...user, isDisabled: true }
    case 'user.enabled':
      return user && { ...user, isDisabled: false }
    // Sign-ins and password changes are in the same stream; no rule reads them.
    default:
      return user
  }
}

export const users = aggregate('user', { events, initial: null, evolve, snapshot: { shape: 1 } })
export const userAt = (username: string) => users.at(username)
