import { Type } from 'typebox'
import { signedByPasskey } from './passkeys.ts'
import { quota } from './quotas.ts'
import { closed, nullable, oneOf, pageQuery, timestamp } from './shared.ts'

export const role = () => oneOf('admin', 'operator')

/** The code of an authenticator, or a recovery code; spaces and hyphens do not matter. */
export const secondFactorCode = () => Type.String({ minLength: 1, maxLength: 64, 'x-secret': true })

/** `code` or `passkey`: for people with a second factor, when the server asks for it. */
export const loginInput = closed({
  username: Type.String({ minLength: 1, maxLength: 256 }),
  password: Type.String({ minLength: 1, maxLength: 4096, 'x-secret': true }),
  code: Type.Optional(secondFactorCode()),
  passkey: Type.Optional(signedByPasskey),
})

/** `token` is the access token; the refresh token comes only as an httpOnly cookie. */
export const loginReply = Type.Object({
  token: Type.String(),
  user: Type.Object({ username: Type.String(), role: role() }),
})

/** `role` is the current role; `expires_in` is in seconds. The next refresh token comes only as a cookie. */
export const refreshReply = Type.Object({
  token: Type.String(),
  expires_in: Type.Integer(),
  user: Type.Object({ username: Type.String(), role: role() }),
})

export const sessionInPath = Type.Object({ sid: Type.String({ minLength: 1, maxLength: 128 }) })

/** `new`: 12 to 1024 bytes. */
export const passwordInput = closed({
  current: Type.String({ minLength: 1, maxLength: 4096, 'x-secret': true }),
  new: Type.String({ minLength: 1, maxLength: 4096, 'x-secret': true }),
})

/** `code` or `passkey`: for people with a second factor. */
export const confirmInput = closed({
  password: Type.String({ minLength: 1, maxLength: 4096, 'x-secret': true }),
  code: Type.Optional(secondFactorCode()),
  passkey: Type.Optional(signedByPasskey),
})

export const sessionListQuery = closed(pageQuery)

/** `last_used_at`: its last refresh or authenticated request, to within five minutes; null: none since it began. `current`: the caller's own session. */
export const session = Type.Object({
  sid: Type.String(),
  via: Type.String(),
  created_at: timestamp(),
  last_used_at: nullable(timestamp()),
  expires_at: timestamp(),
  user_agent: nullable(Type.String()),
  current: Type.Boolean(),
})

/** `methods` are the enabled ways to sign in; `notice` is shown to everybody before signing in. */
export const signInConfig = Type.Object({
  methods: Type.Array(oneOf('password', 'oidc', 'device')),
  password: Type.Object({ enabled: Type.Boolean() }),
  oidc: Type.Object({
    enabled: Type.Boolean(),
    name: nullable(Type.String()),
    login_url: nullable(Type.String()),
  }),
  /** Only at the address of the installation; browsers compare the host name. */
  passkey: Type.Object({ enabled: Type.Boolean() }),
  device: Type.Object({
    enabled: Type.Boolean(),
    interval_s: Type.Integer(),
    expires_in_s: Type.Integer(),
  }),
  access_token_hours: Type.Integer(),
  instance: Type.Object({ name: Type.String(), console_url: Type.String() }),
  notice: nullable(Type.String()),
})

export const done = Type.Object({ ok: Type.Literal(true) })

export const me = Type.Object({
  username: Type.String(),
  role: role(),
  role_label: Type.String(),
  display_name: nullable(Type.String()),
  email: nullable(Type.String()),
  teams: Type.Array(Type.Object({ name: Type.String(), role: Type.String() })),
  quota,
  usage: Type.Object({
    concurrent_gpus: Type.Integer(),
    concurrent_jobs: Type.Integer(),
    gpu_hours_today: Type.String(),
    storage_gb: Type.String(),
  }),
  token: Type.Object({
    kind: Type.Literal('access'),
    method: Type.String(),
    issued_at: timestamp(),
    expires_at: timestamp(),
  }),
  /** The password was generated; until it is replaced, the person may do nothing else. */
  must_change_password: Type.Boolean(),
  /**
   * `set_up_at`: of the authenticator; null without one. `passkeys`: how many. `must_set_up`: until the person has either, they may do
   * nothing else. `is_available`: false for people of an identity provider.
   */
  second_factor: Type.Object({
    is_available: Type.Boolean(),
    set_up_at: nullable(timestamp()),
    passkeys: Type.Integer(),
    recovery_codes_left: Type.Integer(),
    must_set_up: Type.Boolean(),
  }),
  unread_notifications: Type.Integer(),
})
