import { Type } from 'typebox'
import { aggregate, type EventOf, event } from './event.ts'

/** An admin had a new key created, which signs access tokens from now on. */
export const signingKeyRotated = event(
  'signing_key.rotated',
  Type.Object({ kid: Type.String(), replaced_kid: Type.String() }),
  ({ kid, replaced_kid }, who) => `${who} rotated the signing key: ${kid} replaces ${replaced_kid}`,
)

export type KeyEvent = EventOf<typeof signingKeyRotated>

/** Null before the first rotation: no event records the first key of an installation. */
export type SigningKey = { kid: string; replaced_kid: string } | null

function evolve(_: SigningKey, event: KeyEvent): SigningKey {
  switch (event.type) {
    case 'signing_key.rotated':
      return event.data
  }
}

export const keys = aggregate('keys', { events: [signingKeyRotated], initial: null, evolve })
/** An installation has one ring of keys. */
export const keyRing = keys.at('signing')
