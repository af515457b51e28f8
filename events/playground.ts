import { type Static, Type } from 'typebox'
import { nullable, oneOf } from '../schemas/shared.ts'
import { aggregate, type EventOf, event } from './event.ts'

const session_id = Type.String()

/**
 * A person may chat with a model for a while, using their access token. `owns`: its deployment was created for it,
 * and ends with it. `revision_id`: the revision whose engines respond; null: the promoted one.
 */
export const playgroundOpened = event(
  'playground.opened',
  Type.Object({
    session_id,
    username: Type.String(),
    deployment_id: Type.String(),
    owns: Type.Boolean(),
    artifact_id: nullable(Type.String()),
    revision_id: nullable(Type.String()),
    model: nullable(Type.String()),
    idle_timeout_s: Type.Integer(),
    max_lifetime_s: Type.Integer(),
    expires_at: Type.String(),
  }),
  ({ session_id: id, deployment_id }, who) =>
    `${who} opened the playground session ${id} on ${deployment_id}`,
)

/** The session has ended and responds to no further requests. */
export const playgroundEnded = event(
  'playground.ended',
  Type.Object({
    session_id,
    state: oneOf('closed', 'expired', 'failed'),
    reason: nullable(Type.String()),
  }),
  ({ session_id: id, state, reason }, who) =>
    `${who} ended the playground session ${id}: ${state}${reason === null ? '' : ` (${reason})`}`,
)

export type PlaygroundEvent = EventOf<typeof playgroundOpened> | EventOf<typeof playgroundEnded>

/** Null before it is opened. */
export type Playground = (Static<typeof playgroundOpened.data> & { isOver: boolean }) | null

const evolve = (session: Playground, happened: PlaygroundEvent): Playground => {
  if (happened.type === 'playground.opened') return { ...happened.data, isOver: false }
  return session && { ...session, isOver: true }
}

export const playgrounds = aggregate('playground', {
  events: [playgroundOpened, playgroundEnded],
  initial: null,
  evolve,
  snapshot: { shape: 1 },
})
export const playgroundAt = (id: string) => playgrounds.at(id)
