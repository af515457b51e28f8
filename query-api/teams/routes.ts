import { type Kysely, sql } from 'kysely'
import type { Pool } from 'pg'
import type { Person } from '../../auth/caller.ts'
import type { Route } from '../../auth/route.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Clock } from '../../platform/time.ts'
import type { TeamTables } from '../../projector/teams/table.ts'
import {
  type TeamRow,
  teamDetail,
  teamMember,
  teamPath,
  teamProject,
  teamRow,
  teamsQuery,
} from '../../schemas/teams.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { list, one } from '../reading/list.ts'
import type { Reads } from '../reading/reads.ts'
import { type AccessTables, readableProjects } from '../rules/access.ts'
import { readUse } from './use.ts'

export type Tables = AccessTables & TeamTables

type Deps = { reads: Reads<Tables>; pool: Pool; now: Clock }

export const teamRoutes = ({ reads, pool, now }: Deps): Route[] => [
  list({
    credential: 'person',
    path: '/api/teams',
    tag: 'teams',
    summary: "List one's own teams, by name; admins see all",
    query: teamsQuery,
    row: teamRow,
    of: ({ caller }) => ({ db: reads.as(caller), caller }),
    matching: ({ db, caller }) => readable(db, caller),
    select: (teams, { caller }) => withCounts(teams, caller).orderBy('teams.name'),
    shape: rows => rows.map(toRow),
  }),
  one({
    ...ofTeam(reads),
    path: '/api/teams/{name}',
    tag: 'teams',
    summary: 'Read a team, its pool and what its jobs hold of it',
    response: teamDetail,
    async read({ row }) {
      const { max_concurrent_gpus, max_concurrent_jobs, daily_gpu_hours, groups } = row
      return {
        ...toRow(row),
        pool: { max_concurrent_gpus, max_concurrent_jobs, daily_gpu_hours },
        use: await readUse(pool, row.name, now()),
        groups: Object.entries(groups)
          .map(([group, role]) => ({ group, role }))
          .sort((a, b) => (a.group < b.group ? -1 : 1)),
      }
    },
  }),
  list({
    ...ofTeam(reads),
    path: '/api/teams/{name}/members',
    tag: 'teams',
    summary: 'List the members of a team, its owners first',
    query: teamsQuery,
    row: teamMember,
    matching: ({ db, row }) => db.selectFrom('team_members').where('team', '=', row.name),
    select: members =>
      members
        .select(['username', 'role', 'source', 'since'])
        .orderBy(
          sql`array_position(array['owner', 'maintainer', 'member', 'viewer'], team_members.role)`,
        )
        .orderBy('username'),
    shape: rows => rows.map(({ since, ...row }) => ({ ...row, since: toTimestamp(since) })),
  }),
  list({
    ...ofTeam(reads),
    path: '/api/teams/{name}/projects',
    tag: 'teams',
    summary: 'List the projects of a team, by name',
    query: teamsQuery,
    row: teamProject,
    matching: ({ db, row, names }) =>
      db
        .selectFrom('projects')
        .where('team', '=', row.name)
        .$if(names !== null, projects => projects.where('name', 'in', names ?? [])),
    select: projects => projects.select(['name', 'owner', 'visibility']).orderBy('name'),
    shape: rows => rows,
  }),
]

/** Members read a team; so do admins. */
const readable = (db: Kysely<Tables>, { role, username }: Person) =>
  db
    .selectFrom('teams')
    .$if(role !== 'admin', teams =>
      teams.where(({ exists, selectFrom }) =>
        exists(
          selectFrom('team_members')
            .select('team_members.team')
            .whereRef('team_members.team', '=', 'teams.name')
            .where('team_members.username', '=', username),
        ),
      ),
    )

const withCounts = (teams: ReturnType<typeof readable>, { username }: Person) =>
  teams.selectAll().select([
    sql<number>`(select count(*)::integer from team_members m where m.team = teams.name)`.as(
      'members',
    ),
    sql<number>`(select count(*)::integer from projects p where p.team = teams.name)`.as(
      'projects',
    ),
    sql<TeamRow['my_role']>`(select m.role from team_members m
                                where m.team = teams.name and m.username = ${username})`.as(
      'my_role',
    ),
  ])

type Found = Omit<TeamRow, 'created_at'> & { created_at: Date }

const toRow = ({ name, description, my_role, members, projects, created_at }: Found): TeamRow => ({
  ...{ name, description, my_role, members, projects },
  created_at: toTimestamp(created_at),
})

/** For routes about a team; to people who are not in it, it looks missing. */
const ofTeam = (reads: Reads<Tables>) =>
  ({
    credential: 'person',
    reach: 'its_people',
    params: teamPath,
    refusals: ['not_found'],
    async of({ caller, params: { name } }: { caller: Person; params: { name: string } }) {
      const db = reads.as(caller)
      const row = await withCounts(readable(db, caller), caller)
        .where('name', '=', name)
        .executeTakeFirst()
      if (!row) throw new Refusal('not_found', `No such team: ${name}`)
      return { db, row, names: await readableProjects(db, caller) }
    },
  }) as const
