import { Type } from 'typebox'
import { closed, nullable, timestamp } from '../shared.ts'

export const tokenInput = closed({
  name: Type.String({ minLength: 1, maxLength: 128, pattern: '^[^\\p{C}]+$' }),
  note: Type.String({ maxLength: 1000, default: '' }),
  /** Whether its requests and their responses are kept, for reflows (docs/use/reflow.md). Fixed for the life of the token. */
  capture: Type.Optional(Type.Boolean({ default: false })),
})

const id = () => Type.String({ minLength: 1, maxLength: 128 })
export const tokenPath = Type.Object({ deployment_id: id(), token_id: id() })

export const token = Type.Object({
  token_id: Type.String(),
  name: Type.String(),
  note: Type.String(),
  prefix: Type.String(),
  capture: Type.Boolean(),
  created_by: Type.String(),
  created_at: timestamp(),
  revoked_at: nullable(timestamp()),
  /** When its last recorded request began; null: it was never used. */
  last_used_at: nullable(timestamp()),
  requests_24h: Type.Integer(),
})
/** `token` is shown only once; null in a replayed response. */
export const tokenCreated = Type.Object({
  token_id: Type.String(),
  name: Type.String(),
  prefix: Type.String(),
  token: nullable(Type.String()),
  capture: Type.Boolean(),
  created_at: timestamp(),
})
export const tokenRevoked = Type.Object({ ok: Type.Literal(true), revoked_at: timestamp() })
