import { type Static, Type } from 'typebox'
import { closed, nameText, nullable, oneOf, pageQuery, timestamp } from './shared.ts'

/**
 * In the team's projects, viewers read, members also submit, and maintainers and owners also act on jobs and change the project.
 * In the team itself, maintainers manage members and viewers; owners do everything but set the pool.
 */
const teamRole = () => oneOf('viewer', 'member', 'maintainer', 'owner')
export type TeamRole = 'owner' | 'maintainer' | 'member' | 'viewer'

/** Owners are people: a group cannot be one. */
const groupRole = () => oneOf('maintainer', 'member', 'viewer')

const name = () => Type.String({ pattern: '^[a-z0-9][a-z0-9_.-]{0,62}$' })
const description = () => Type.String({ maxLength: 2000 })

/** What the jobs of the team may hold together; null: no limit. */
export const pool = closed({
  max_concurrent_gpus: nullable(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
  max_concurrent_jobs: nullable(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
  daily_gpu_hours: nullable(Type.Number({ minimum: 0, maximum: 1_000_000 })),
})
export type Pool = Static<typeof pool>

export const teamPath = Type.Object({ name: Type.String({ minLength: 1, maxLength: 128 }) })
export const teamMemberPath = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 128 }),
  username: Type.String({ minLength: 1, maxLength: 128 }),
})
export const teamGroupPath = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 128 }),
  group: nameText(256),
})

/** The body of `POST /api/teams`. */
export const teamInput = closed({
  name: name(),
  description: Type.Optional(description()),
})

/** The body of `PATCH /api/teams/{name}`; absent fields keep their value. Only admins set the pool. */
export const teamPatch = closed({
  description: Type.Optional(description()),
  pool: Type.Optional(Type.Partial(pool)),
})
export type TeamPatch = Static<typeof teamPatch>

/** The body of `PUT /api/teams/{name}/members/{username}`. */
export const teamMemberInput = closed({ role: teamRole() })

/** The body of `PUT /api/teams/{name}/groups/{group}`. */
export const teamGroupInput = closed({ role: groupRole() })

/** The body of `POST /api/teams/{name}/leave` and the query of a removal: who gets the person's projects of the team. */
export const handOver = closed({
  hand_over_to: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
})

/** `changed` is false when every field already had the requested value. */
export const teamSaved = Type.Object({
  name: Type.String(),
  description: Type.String(),
  pool,
  changed: Type.Boolean(),
})

export const teamMemberSaved = Type.Object({
  team: Type.String(),
  username: Type.String(),
  role: teamRole(),
  changed: Type.Boolean(),
})

/** `handed_over`: the projects that got another owner. */
export const teamMemberGone = Type.Object({
  team: Type.String(),
  username: Type.String(),
  removed: Type.Literal(true),
  handed_over: Type.Array(Type.Object({ project: Type.String(), owner: Type.String() })),
})

export const teamGroupSaved = Type.Object({
  team: Type.String(),
  group: Type.String(),
  role: groupRole(),
  changed: Type.Boolean(),
})

export const teamGroupGone = Type.Object({
  team: Type.String(),
  group: Type.String(),
  removed: Type.Literal(true),
})

export const teamGone = Type.Object({ name: Type.String(), deleted: Type.Literal(true) })

const row = {
  name: Type.String(),
  description: Type.String(),
  /** The caller's; null for admins who are no members. */
  my_role: nullable(teamRole()),
  members: Type.Integer({ minimum: 0 }),
  projects: Type.Integer({ minimum: 0 }),
  created_at: timestamp(),
}

export const teamsQuery = closed(pageQuery)
export const teamRow = Type.Object(row)
export type TeamRow = Static<typeof teamRow>

/** `use`: what running and starting jobs of the team hold now, and its GPU hours of this UTC day. */
export const teamDetail = Type.Object({
  ...row,
  pool,
  use: Type.Object({
    concurrent_gpus: Type.Integer({ minimum: 0 }),
    concurrent_jobs: Type.Integer({ minimum: 0 }),
    gpu_hours_today: Type.String(),
  }),
  /** Groups of the identity provider whose people are members. */
  groups: Type.Array(Type.Object({ group: Type.String(), role: groupRole() })),
})
export type TeamDetail = Static<typeof teamDetail>

/** Owners first, then by name. `source`: `provider` if a group of the identity provider made it. */
export const teamMember = Type.Object({
  username: Type.String(),
  role: teamRole(),
  source: oneOf('person', 'provider'),
  since: timestamp(),
})
export type TeamMember = Static<typeof teamMember>

/** A project of the team that the caller may read. */
export const teamProject = Type.Object({
  name: Type.String(),
  owner: Type.String(),
  visibility: oneOf('private', 'internal'),
})
export type TeamProject = Static<typeof teamProject>
