import { type Kysely, sql } from 'kysely'
import { Type } from 'typebox'
import { type Route, route } from '../../platform/http/route.ts'
import type { ProjectTables } from '../../projector/projects/table.ts'
import { project, projectListQuery } from '../../schemas/projects.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { type AccessTables, readableProjects } from '../access.ts'
import { countRows, pageHeaders } from '../page.ts'

export const projectRoutes = (db: Kysely<ProjectTables & AccessTables>): Route[] => [
  route({
    method: 'GET',
    path: '/api/projects',
    credential: 'person',
    tag: 'projects',
    summary: 'List the projects one may read, by name',
    query: projectListQuery,
    response: Type.Array(project),
    async handle({ caller, query, ctx }) {
      const { limit = 50, offset = 0 } = query
      const names = await readableProjects(db, caller)
      const readable = db
        .selectFrom('projects')
        .$if(names !== null, one => one.where(sql<boolean>`name = any(${names})`))
      const rows = await readable
        .leftJoin(
          eb =>
            eb
              .selectFrom('runs')
              .select(['project', eb.fn.countAll<number>().as('runs')])
              .groupBy('project')
              .as('counted'),
          join => join.onRef('counted.project', '=', 'projects.name'),
        )
        .select(['projects.name', 'projects.owner', 'projects.visibility', 'projects.created_at'])
        .select(eb => eb.fn.coalesce('counted.runs', sql<number>`0`).as('runs'))
        .orderBy('projects.name')
        .limit(limit)
        .offset(offset)
        .execute()
      pageHeaders(ctx, { limit, offset }, await countRows(db, readable.select('name')))
      return rows.map(row => ({ ...row, created_at: toTimestamp(row.created_at) }))
    },
  }),
]
