import { Type } from 'typebox'
import { nullable } from '../schemas/shared.ts'
import { aggregate, type EventOf, event } from './event.ts'

/** `owner` null: the project's own view. */
const identity = {
  project: Type.String(),
  owner: nullable(Type.String()),
  view: Type.String(),
}

/** A view of a project's workspace was saved, for the first time or again. `state` is JSON as the client sent it. */
export const viewSaved = event(
  'view.saved',
  Type.Object({ ...identity, shared: Type.Boolean(), state: Type.String(), digest: Type.String() }),
  ({ project, owner, view, shared }, who) =>
    owner === null
      ? `${who} saved the default view of project ${project}`
      : `${who} saved the ${shared ? 'shared' : 'private'} view ${view} of project ${project}`,
)

/** A view was removed; its name is free again. */
export const viewRemoved = event(
  'view.removed',
  Type.Object(identity),
  ({ project, view }, who) => `${who} removed the view ${view} of project ${project}`,
)

const events = [viewSaved, viewRemoved] as const
export type ViewEvent = EventOf<(typeof events)[number]>

/** Null while it does not exist. */
export type View = { shared: boolean; digest: string } | null

function evolve(_: View, event: ViewEvent): View {
  switch (event.type) {
    case 'view.saved':
      return { shared: event.data.shared, digest: event.data.digest }
    case 'view.removed':
      return null
  }
}

export const views = aggregate('view', { events, initial: null, evolve, snapshot: { shape: 1 } })

export type ViewName = { project: string; owner: string | null; view: string }
export const viewAt = ({ project, owner, view }: ViewName) =>
  views.at(`${project}/${owner ?? ''}/${view}`)
