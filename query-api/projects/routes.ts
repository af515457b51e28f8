import { type Kysely, type SqlBool, sql } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import type { Route } from '../../auth/route.ts'
import { Refusal } from '../../platform/refusal.ts'
import { project, projectListQuery, projectMember, projectPath } from '../../schemas/projects.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { list, one } from '../reading/list.ts'
import type { Reads } from '../reading/reads.ts'
import { type AccessTables, readableProjects, roleIn } from '../rules/access.ts'

type Db = Kysely<AccessTables>

export const projectRoutes = (reads: Reads<AccessTables>): Route[] => [
  list({
    credential: 'person',
    path: '/api/projects',
    tag: 'projects',
    summary: 'List the projects one may read, by name',
    query: projectListQuery,
    row: project,
    of: ({ caller }) => readableOf(reads, caller),
    matching: ({ readable }) => readable,
    select: (readable, { caller }) => withCounts(readable, caller).orderBy('projects.name'),
    shape: rows => rows.map(withTimestamp),
  }),
  one({
    ...ofProject(reads),
    path: '/api/projects/{name}',
    tag: 'projects',
    summary: 'Read a project',
    response: project,
    read: async ({ row }) => withTimestamp(row),
  }),
  list({
    ...ofProject(reads),
    path: '/api/projects/{name}/members',
    tag: 'projects',
    summary: 'List the owner and the members of a project',
    query: projectListQuery,
    row: projectMember,
    matching: ({ db, row }) => peopleOf(db, row.name),
    select: people => people.selectAll().orderBy('place').orderBy('username'),
    shape: rows =>
      rows.map(({ place: _, since, ...row }) => ({ ...row, since: toTimestamp(since) })),
  }),
]

async function readableOf(reads: Reads<AccessTables>, caller: Person) {
  const db = reads.as(caller)
  const names = await readableProjects(db, caller)
  const readable = db
    .selectFrom('projects')
    .$if(names !== null, one => one.where(sql<SqlBool>`projects.name = any(${names})`))
  return { db, readable, caller }
}

type Readable = Awaited<ReturnType<typeof readableOf>>['readable']

const withCounts = (projects: Readable, { username }: Person) =>
  projects.select(['name', 'owner', 'team', 'visibility', 'notes', 'created_at']).select(eb => [
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
             else ${roleIn(sql`projects.name`, username)} end`.as('my_role'),
  ])

/** For routes about a project. A project that the caller may not read looks as if it did not exist. */
const ofProject = (reads: Reads<AccessTables>) =>
  ({
    credential: 'person',
    reach: 'its_people',
    params: projectPath,
    async of({ caller, params }: { caller: Person; params: { name: string } }) {
      const { db, readable } = await readableOf(reads, caller)
      const named = withCounts(readable, caller).where('name', '=', params.name)
      const row = await named.executeTakeFirst()
      if (!row) throw new Refusal('not_found', `No such project: ${params.name}`)
      return { db, row }
    },
    refusals: ['not_found'],
  }) as const

const withTimestamp = <R extends { created_at: Date }>(row: R) => ({
  ...row,
  created_at: toTimestamp(row.created_at),
})

type Place = { place: number; role: 'owner' | 'maintainer' | 'member' | 'viewer' }

const peopleOf = (db: Db, name: string) =>
  db.selectFrom(
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
