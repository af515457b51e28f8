import { type Static, Type } from 'typebox'
import { closed, nullable, oneOf, pageQuery, timestamp } from './shared.ts'

/** `private`: readable by its members and admins; `internal`: by every signed-in person. */
const visibility = () => oneOf('private', 'internal')
export type Visibility = 'private' | 'internal'

/** A viewer reads, a member also submits, a maintainer also acts on jobs and changes the project. */
const memberRole = () => oneOf('viewer', 'member', 'maintainer')
export type MemberRole = 'viewer' | 'member' | 'maintainer'

const roleInProject = () => oneOf('owner', 'maintainer', 'member', 'viewer')

export const projectPath = Type.Object({ name: Type.String({ minLength: 1, maxLength: 128 }) })

export const memberPath = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 128 }),
  username: Type.String({ minLength: 1, maxLength: 128 }),
})

/** The body of `PATCH /api/projects/{name}`; absent fields keep their value. */
export const projectPatch = closed({
  visibility: Type.Optional(visibility()),
  notes: Type.Optional(Type.String({ maxLength: 10_000 })),
})
export type ProjectPatch = Static<typeof projectPatch>

/** The body of `PUT /api/projects/{name}/members/{username}`. */
export const memberInput = closed({ role: memberRole() })

const settings = {
  name: Type.String(),
  owner: Type.String(),
  /** The team that owns it; null: its owner alone. */
  team: nullable(Type.String()),
  visibility: visibility(),
  notes: Type.String(),
}

/** The body of `PUT /api/projects/{name}/team`; null: it leaves its team. `owner` stays who it is if it is left out. */
export const projectTeamInput = closed({
  team: nullable(Type.String({ minLength: 1, maxLength: 128 })),
  owner: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
})

export const projectTeamSet = Type.Object({
  project: Type.String(),
  team: nullable(Type.String()),
  owner: Type.String(),
  changed: Type.Boolean(),
})

/** `changed` is false when every field already had the requested value. */
export const projectPatched = Type.Object({ ...settings, changed: Type.Boolean() })

export const memberSet = Type.Object({
  project: Type.String(),
  username: Type.String(),
  role: memberRole(),
  changed: Type.Boolean(),
})

export const memberRemoved = Type.Object({
  project: Type.String(),
  username: Type.String(),
  removed: Type.Literal(true),
})

/** `my_role` is the caller's; null for an admin, or a non-member reading an internal project. */
export const project = Type.Object({
  ...settings,
  runs: Type.Integer({ minimum: 0 }),
  my_role: nullable(roleInProject()),
  created_at: timestamp(),
})

/** The owner comes first. `since`: when the project was created, or the member was added. */
export const projectMember = Type.Object({
  username: Type.String(),
  role: roleInProject(),
  since: timestamp(),
})

export const projectListQuery = closed(pageQuery)
