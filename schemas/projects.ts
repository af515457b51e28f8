import { type Static, Type } from 'typebox'
import { closed, nullable, oneOf, pageQuery, timestamp } from './shared.ts'

/** `private`: read by its people and admins; `internal`: by every signed-in person. */
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

/** The body of `PATCH /api/projects/{name}`; what is absent stays as it is. */
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
  visibility: visibility(),
  notes: Type.String(),
}

/** `changed`: false where everything was so already. */
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

/** `my_role`: the caller's; null for who reads it as an admin or because it is internal. */
export const project = Type.Object({
  ...settings,
  runs: Type.Integer({ minimum: 0 }),
  my_role: nullable(roleInProject()),
  created_at: timestamp(),
})

/** The owner comes first, since the project exists; members since they were made ones. */
export const projectMember = Type.Object({
  username: Type.String(),
  role: roleInProject(),
  since: timestamp(),
})

export const projectListQuery = closed(pageQuery)
