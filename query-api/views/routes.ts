import type { Kysely } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import type { Route } from '../../auth/route.ts'
import type { ViewTables } from '../../projector/views/table.ts'
import { defaultView } from '../../schemas/default-view.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { viewListQuery, viewPath, viewQuery, viewRecord, viewRow } from '../../schemas/views.ts'
import { list, one } from '../reading/list.ts'
import type { Reads } from '../reading/reads.ts'
import { type AccessTables, inProject } from '../rules/access.ts'

export type Tables = AccessTables & ViewTables

export const viewRoutes = (reads: Reads<Tables>): Route[] => [
  list({
    ...inProject(reads),
    path: '/api/projects/{name}/views',
    tag: 'projects',
    summary: "List one's own and the shared views of a project, its default one first",
    query: viewListQuery,
    row: viewRow,
    matching: ({ db }, { caller, params }) => readable(db, caller, params.name),
    select: views =>
      views
        .select(['view', 'owner', 'shared', 'bytes', 'saved_at'])
        .orderBy('owner')
        .orderBy('view'),
    shape: rows => rows.map(withOwner),
  }),
  one({
    ...inProject(reads),
    path: '/api/projects/{name}/views/{view}',
    tag: 'projects',
    summary: "Read one's own view of a project, its default one, or a shared one",
    params: viewPath,
    query: viewQuery,
    response: viewRecord,
    missing: ({ view }) => `No such view: ${view}`,
    async read({ db }, { caller, params, query }) {
      const owner = params.view === defaultView ? '' : (query.owner ?? caller.username)
      const row = await readable(db, caller, params.name)
        .select(['view', 'owner', 'shared', 'state', 'saved_at'])
        .where('owner', '=', owner)
        .where('view', '=', params.view)
        .executeTakeFirst()
      return row && withOwner(row)
    },
  }),
]

/** Private views are their owner's alone, admins included. */
const readable = (db: Kysely<Tables>, { username }: Person, project: string) =>
  db
    .selectFrom('saved_views')
    .where('project', '=', project)
    .where(eb => eb.or([eb('shared', '=', true), eb('owner', '=', username)]))

const withOwner = <R extends { owner: string; saved_at: Date }>(row: R) => ({
  ...row,
  owner: row.owner === '' ? null : row.owner,
  saved_at: toTimestamp(row.saved_at),
})
