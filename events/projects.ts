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

/** Who reads the project, or what is noted of it, is another now; both as they are from here on. */
export const projectChanged = event(
  'project.changed',
  Type.Object({
    name: Type.String(),
    visibility: oneOf('private', 'internal'),
    notes: Type.String(),
  }),
)

/** A person became a member, or a member got another role. */
export const projectMemberSet = event(
  'project.member_set',
  Type.Object({
    name: Type.String(),
    username: Type.String(),
    role: oneOf('viewer', 'member', 'maintainer'),
  }),
)

/** A member is none any more. */
export const projectMemberRemoved = event(
  'project.member_removed',
  Type.Object({ name: Type.String(), username: Type.String() }),
)

export const projectEvents = [
  projectCreated,
  projectChanged,
  projectMemberSet,
  projectMemberRemoved,
] as const
export type ProjectEvent = EventOf<(typeof projectEvents)[number]>
export const projectStream = (name: string) => `project-${name}`
