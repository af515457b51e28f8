import { Type } from 'typebox'
import { type EventOf, event } from './event.ts'

/** An admin had a new key made, which signs access tokens from now on. */
export const signingKeyRotated = event(
  'signing_key.rotated',
  Type.Object({ kid: Type.String(), replaced_kid: Type.String() }),
)

export const keyEvents = [signingKeyRotated] as const
export type KeyEvent = EventOf<(typeof keyEvents)[number]>
/** An installation has one ring of keys. */
export const keyStream = 'keys-signing'
