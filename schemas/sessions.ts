import { Type } from 'typebox'
import { quota } from './quotas.ts'
import { closed, nullable, oneOf, timestamp } from './shared.ts'

export const role = () => oneOf('admin', 'operator')

export const loginInput = closed({
  username: Type.String({ minLength: 1, maxLength: 256 }),
  password: Type.String({ minLength: 1, maxLength: 4096, 'x-secret': true }),
})

/** `token` is the access token; the refresh token comes only as an httpOnly cookie. */
export const loginReply = Type.Object({
  token: Type.String(),
  user: Type.Object({ username: Type.String(), role: role() }),
})

/** `role` is the person's role now; `expires_in` in seconds. The next refresh token comes only as cookie. */
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
  unread_notifications: Type.Integer(),
})
