import { Type } from 'typebox'
import { timestamp } from './shared.ts'

/** `replaced_kid` no longer signs; it is deleted at `replaced_ends_at`, when its last token has expired. */
export const rotatedKey = Type.Object({
  kid: Type.String(),
  replaced_kid: Type.String(),
  replaced_ends_at: timestamp(),
})
