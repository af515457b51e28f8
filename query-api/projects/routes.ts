import { type Kysely, type SqlBool, sql } from 'kysely'
import { Type } from 'typebox'
import type { Person } from '../../auth/caller.ts'
import { type Route, route } from '../../auth/route.ts'
import { Refusal } from '../../platform/refusal.ts'
import { project, projectListQuery, projectMember, projectPath } from '../../schemas/projects.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { type AccessTables, readableProjects } from '../access.ts'
import { listRoute } from '../list-route.ts'
import { countRows, pageHeaders } from '../page.ts'
import type { Reads } from '../reads.ts'

type Db = Kysely<AccessTables>

export const projectRoutes = (reads: Reads<AccessTables>): Route[] => [
  listRoute({
    path: '/api/projects',
    credential: 'person',
    tag: 'projects',
    summary: 'List the projects one may read, by name',
    query: projectListQuery,
    row: project,
    async read({ caller }, { limit, offset }) {
      const db = reads.as(caller)
      const readable = await readableOf(db, caller)
      const rows = await withCounts(readable, caller)
        .orderBy('projects.name')
        .limit(limit)
        .offset(offset)
        .execute()
      return {
        rows: rows.map(withTimestamp),
        counted: await countRows(db, readable.select('name')),
      }
    },
  }),
  route({
    method: 'GET',
    path: '/api/projects/{name}',
    credential: 'person',
    reach: 'its_people',
    tag: 'projects',
    summary: 'Read a project',
    params: projectPath,
    response: project,
    refusals: ['not_found'],
    handle: ({ caller, params }) => findProject(reads.as(caller), caller, params.name),
  }),
  route({
    method: 'GET',
    path: '/api/projects/{name}/members',
    credential: 'person',
    reach: 'its_people',
    tag: 'projects',
    summary: 'List the owner and the members of a project',
    params: projectPath,
    query: projectListQuery,
    response: Type.Array(projectMember),
    refusals: ['not_found'],
    async handle({ caller, params, query, ctx }) {
      const { limit = 50, offset = 0 } = query
      const db = reads.as(caller)
      const { name } = await findProject(db, caller, params.name)
      const people = peopleOf(db, name)
      const rows = await people
        .orderBy('place')
        .orderBy('username')
        .limit(limit)
        .offset(offset)
        .execute()
      pageHeaders(ctx, { limit, offset, shown: rows.length }, await countRows(db, people))
      return rows.map(({ place: _, since, ...row }) => ({ ...row, since: toTimestamp(since) }))
    },
  }),
]

async function readableOf(db: Db, caller: Person) {
  const names = await readableProjects(db, caller)
  return db
    .selectFrom('projects')
    .$if(names !== null, one => one.where(sql<SqlBool>`projects.name = any(${names})`))
}

const withCounts = (projects: Awaited<ReturnType<typeof readableOf>>, { username }: Person) =>
  projects.select(['name', 'owner', 'visibility', 'notes', 'created_at']).select(eb => [
    eb
      .selectFrom('runs')
      .select(one => one.fn.countAll<number>().as('count'))
      .whereRef('runs.project', '=', 'projects.name')
      .where('runs.deleted_at', 'is', null)
      .$asScalar()
      .$notNull()
      .as('runs'),
    sql<'owner' | 'maintainer' | 'member' | 'viewer' | null>`
        case when projects.owner = ${username} then 'owner'
             else (select m.role from project_members m
                    where m.project = projects.name and m.username = ${username}) end`.as(
      'my_role',
    ),
  ])

/** A project the caller may not read looks like one that does not exist. */
async function findProject(db: Db, caller: Person, name: string) {
  const readable = await readableOf(db, caller)
  const row = await withCounts(readable, caller).where('name', '=', name).executeTakeFirst()
  if (!row) throw new Refusal('not_found', `No such project: ${name}`)
  return withTimestamp(row)
}

const withTimestamp = <R extends { created_at: Date }>(row: R) => ({
  ...row,
  created_at: toTimestamp(row.created_at),
})

type Place = { place: number; role: 'owner' | 'maintainer' | 'member' | 'viewer' }

const peopleOf = (db: Db, name: string) =>
  db
    .selectFrom(
      db
        .selectFrom('projects')
        .select(['owner as username', 'created_at as since'])
        .select([sql<Place['role']>`'owner'`.as('role'), sql<number>`0`.as('place')])
        .where('name', '=', name)
        .unionAll(
          db
            .selectFrom('project_members')
            .select(['username', 'since', 'role', sql<number>`1`.as('place')])
            .where('project', '=', name),
        )
        .as('people'),
    )
    .selectAll()
