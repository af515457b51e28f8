import { Type } from 'typebox'
import { aggregate, type EventOf, event, type Stamped } from './event.ts'

const identity = { owner: Type.String(), name: Type.String() }

/** A person set the value of a secret, for the first time or again. The value is in no event. */
export const secretSet = event(
  'secret.set',
  Type.Object(identity),
  ({ name }, who) => `${who} set the secret ${name}`,
)

/** A person removed a secret, with its value. */
export const secretRemoved = event(
  'secret.removed',
  Type.Object(identity),
  ({ name }, who) => `${who} removed the secret ${name}`,
)

const events = [secretSet, secretRemoved] as const
export type SecretEvent = EventOf<(typeof events)[number]>

/** Null while it does not exist. */
export type Secret = { set_at: string } | null

function evolve(_: Secret, event: Stamped<SecretEvent>): Secret {
  switch (event.type) {
    case 'secret.set':
      return { set_at: event.occurred_at }
    case 'secret.removed':
      return null
  }
}

export const secrets = aggregate('secret', {
  events,
  initial: null,
  evolve,
  snapshot: { shape: 1 },
})

export type SecretName = { owner: string; name: string }
export const secretAt = ({ owner, name }: SecretName) => secrets.at(`${owner}/${name}`)
