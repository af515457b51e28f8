import { Type } from 'typebox'
import type { MemberRole, Visibility } from '../schemas/projects.ts'
import { nullable, oneOf } from '../schemas/shared.ts'
import { aggregate, type EventOf, event } from './event.ts'

/** Created explicitly or by the first run submitted to it; the person who did so owns it. */
export const projectCreated = event(
  'project.created',
  Type.Object({
    name: Type.String(),
    owner: Type.String(),
    visibility: oneOf('private', 'internal'),
  }),
  ({ name, owner, visibility }, who) =>
    `${who} created the ${visibility} project ${name} of ${owner}`,
)

/** The visibility or the notes of a project were changed; the event has the new value of both. */
export const projectChanged = event(
  'project.changed',
  Type.Object({
    name: Type.String(),
    visibility: oneOf('private', 'internal'),
    notes: Type.String(),
  }),
  ({ name, visibility, notes }, who) =>
    `${who} set project ${name} to ${visibility}, ${notes === '' ? 'without notes' : 'with notes'}`,
)

/** A person became a member, or a member's role changed. */
export const projectMemberSet = event(
  'project.member_set',
  Type.Object({
    name: Type.String(),
    username: Type.String(),
    role: oneOf('viewer', 'member', 'maintainer'),
  }),
  ({ name, username, role }, who) => `${who} made ${username} a ${role} of project ${name}`,
)

/** A person is no longer a member. */
export const projectMemberRemoved = event(
  'project.member_removed',
  Type.Object({ name: Type.String(), username: Type.String() }),
  ({ name, username }, who) => `${who} removed ${username} from project ${name}`,
)

/** It belongs to this team from now on, or to nobody but its owner; and the owner may be another. */
export const projectTransferred = event(
  'project.transferred',
  Type.Object({ name: Type.String(), team: nullable(Type.String()), owner: Type.String() }),
  ({ name, team, owner }, who) =>
    team === null
      ? `${who} gave project ${name} to ${owner}, in no team`
      : `${who} gave project ${name} to team ${team}, with the owner ${owner}`,
)

const events = [
  projectCreated,
  projectChanged,
  projectMemberSet,
  projectMemberRemoved,
  projectTransferred,
] as const
export type ProjectEvent = EventOf<(typeof events)[number]>

/** Null before it is created. */
export type Project = {
  owner: string
  team: string | null
  visibility: Visibility
  notes: string
  members: ReadonlyMap<string, MemberRole>
} | null

function evolve(project: Project, event: ProjectEvent): Project {
  if (event.type === 'project.created') {
    const { owner, visibility } = event.data
    return { owner, team: null, visibility, notes: '', members: new Map() }
  }
  if (!project) throw new Error(`${event.type} of a project that was never created`)
  switch (event.type) {
    case 'project.changed': {
      const { visibility, notes } = event.data
      return { ...project, visibility, notes }
    }
    case 'project.member_set': {
      const { username, role } = event.data
      return { ...project, members: new Map(project.members).set(username, role) }
    }
    case 'project.transferred': {
      const { team, owner } = event.data
      return { ...project, team, owner, members: without(project.members, owner) }
    }
    case 'project.member_removed':
      return { ...project, members: without(project.members, event.data.username) }
  }
}

const without = (members: ReadonlyMap<string, MemberRole>, username: string) =>
  new Map([...members].filter(([name]) => name !== username))

export const projects = aggregate('project', { events, initial: null, evolve })
export const projectAt = (name: string) => projects.at(name)
