import { Type } from 'typebox'
import { nullable } from '../schemas/shared.ts'
import { aggregate, event } from './event.ts'

/** Captured requests of one person or token were deleted, and earlier ones are never taken. `subject` is a keyed hash. */
export const reflowErased = event(
  'reflow.erased',
  Type.Object({
    deployment_id: Type.String(),
    subject: nullable(Type.String()),
    token_id: nullable(Type.String()),
    deleted: Type.Integer({ minimum: 0 }),
  }),
  ({ deployment_id, token_id, deleted }, who) =>
    `${who} erased ${deleted} captured ${deleted === 1 ? 'request' : 'requests'} of ${token_id === null ? 'a person' : `the token ${token_id}`} from the traffic of ${deployment_id}`,
)

/** How often rows of the deployment were erased. */
export type Erasures = number

export const erasures = aggregate('erasure', {
  events: [reflowErased],
  initial: 0 as Erasures,
  evolve: (count: Erasures): Erasures => count + 1,
  snapshot: { shape: 1 },
})
export const erasuresAt = (deployment_id: string) => erasures.at(deployment_id)
