import { Type } from 'typebox'
import { timestamp } from './shared.ts'

/** `replaced_kid` signs no more; it goes at `replaced_ends_at`, when the last of its tokens has expired. */
export const rotatedKey = Type.Object({
  kid: Type.String(),
  replaced_kid: Type.String(),
  replaced_ends_at: timestamp(),
})
