import { Type } from 'typebox'
import { oneOf } from '../schemas/shared.ts'
import { type EventOf, event } from './event.ts'

/** The first run of a project was submitted; its submitter owns it. */
export const projectCreated = event(
  'project.created',
  Type.Object({
    name: Type.String(),
    owner: Type.String(),
    visibility: oneOf('private', 'internal'),
  }),
)

export const projectEvents = [projectCreated] as const
export type ProjectEvent = EventOf<(typeof projectEvents)[number]>
export const projectStream = (name: string) => `project-${name}`
