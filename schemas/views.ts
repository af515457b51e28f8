import { type Static, Type } from 'typebox'
import { closed, nameText, nullable, pageQuery, timestamp } from './shared.ts'
import { workspaceState } from './workspace.ts'

export const viewLimits = {
  /** Maximum size of the state as JSON. */
  bytes: 65_536,
  /** Views of one person in one project. */
  ofPerson: 100,
} as const

export const viewPath = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 128 }),
  view: nameText(128),
})

/** The body of `PUT /api/projects/{name}/views/{view}`; absent `shared` is false, and true for the default view. */
export const viewInput = closed({
  /** What the workspace shows, at most 64 KiB of JSON. */
  state: workspaceState,
  /** Whether everybody who reads the project may use it. */
  shared: Type.Optional(Type.Boolean()),
})
export type ViewInput = Static<typeof viewInput>

const identity = {
  view: Type.String(),
  /** Null: the project's own view. */
  owner: nullable(Type.String()),
  shared: Type.Boolean(),
}

export const viewSaved = Type.Object({ ...identity, changed: Type.Boolean() })
export const viewRemoved = Type.Object({ view: Type.String(), removed: Type.Literal(true) })

export const viewRow = Type.Object({
  ...identity,
  /** Size of the state as JSON. */
  bytes: Type.Integer(),
  saved_at: timestamp(),
})
export const viewListQuery = closed(pageQuery)

export const viewRecord = Type.Object({
  ...identity,
  state: Type.Record(Type.String(), Type.Unknown()),
  saved_at: timestamp(),
})
/** `owner`: reads a shared view of somebody else. */
export const viewQuery = closed({ owner: Type.Optional(Type.String({ maxLength: 128 })) })
