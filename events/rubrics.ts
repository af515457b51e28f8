import { type Static, Type } from 'typebox'
import { rubricInput } from '../schemas/rubrics/rubrics.ts'
import { aggregate, type EventOf, event, type Stamped } from './event.ts'

/** A version of a rubric was written; `digest` covers everything that a judge sees. */
export const rubricUpdated = event(
  'rubric.updated',
  Type.Object({
    owner: Type.String(),
    ...rubricInput.properties,
    version: Type.Integer({ minimum: 1 }),
    digest: Type.String(),
  }),
  ({ owner, name, version, visibility }, who) =>
    `${who} wrote version ${version} of the ${visibility} rubric ${owner}/${name}`,
)

export type RubricEvent = EventOf<typeof rubricUpdated>
export type RubricContent = Static<typeof rubricUpdated.data>

/** Null before the first version. */
export type Rubric = {
  content: RubricContent
  created_at: string
  updated_at: string
  updated_by: string
} | null

function evolve(rubric: Rubric, event: Stamped<RubricEvent>): Rubric {
  switch (event.type) {
    case 'rubric.updated':
      return {
        content: event.data,
        created_at: rubric?.created_at ?? event.occurred_at,
        updated_at: event.occurred_at,
        updated_by: event.actor.id,
      }
  }
}

export const rubrics = aggregate('rubric', {
  events: [rubricUpdated],
  initial: null,
  evolve,
  snapshot: { shape: 1 },
})
export const rubricAt = ({ owner, name }: { owner: string; name: string }) =>
  rubrics.at(`${owner}/${name}`)
