import { type Static, Type } from 'typebox'
import { rubricInput } from '../schemas/rubrics.ts'
import { type EventOf, event } from './event.ts'

/** A rubric got its first or another content; `digest` covers everything a judge is shown. */
export const rubricUpdated = event(
  'rubric.updated',
  Type.Object({
    owner: Type.String(),
    ...rubricInput.properties,
    version: Type.Integer({ minimum: 1 }),
    digest: Type.String(),
  }),
)

export const rubricEvents = [rubricUpdated] as const
export type RubricEvent = EventOf<(typeof rubricEvents)[number]>
export type RubricContent = Static<typeof rubricUpdated.data>
export const rubricStream = (owner: string, name: string) => `rubric-${owner}/${name}`
