import type { Kysely } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import type { Route } from '../../auth/route.ts'
import type { RubricTables } from '../../projector/rubrics/table.ts'
import { rubric, rubricListQuery, rubricPath } from '../../schemas/rubrics/rubrics.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { list, one } from '../reading/list.ts'
import { asCaller, type Reads } from '../reading/reads.ts'

export const rubricRoutes = (reads: Reads<RubricTables>): Route[] => [
  list({
    ...asCaller(reads),
    path: '/api/rubrics',
    tag: 'rubrics',
    summary: 'List the rubrics one may read',
    query: rubricListQuery,
    row: rubric,
    matching: ({ db }, { caller, query: { owner } }) =>
      readableRubrics(db, caller).$if(owner !== undefined, rubrics =>
        rubrics.where('owner', '=', String(owner)),
      ),
    select: rubrics => rubrics.selectAll().orderBy('owner').orderBy('name'),
    shape: rows => rows.map(toAnswer),
  }),
  one({
    ...asCaller(reads),
    path: '/api/rubrics/{owner}/{name}',
    reach: 'its_people',
    tag: 'rubrics',
    summary: 'Read a rubric',
    params: rubricPath,
    response: rubric,
    missing: ({ owner, name }) => `No such rubric: ${owner}/${name}`,
    async read({ db }, { caller, params: { owner, name } }) {
      const row = await readableRubrics(db, caller)
        .selectAll()
        .where('owner', '=', owner)
        .where('name', '=', name)
        .executeTakeFirst()
      return row && toAnswer(row)
    },
  }),
]

/** Another owner's private rubric looks missing, except to admins. */
function readableRubrics(db: Kysely<RubricTables>, caller: Person) {
  const rubrics = db.selectFrom('rubrics')
  if (caller.role === 'admin') return rubrics
  return rubrics.where(eb =>
    eb.or([eb('visibility', '=', 'public'), eb('owner', '=', caller.username)]),
  )
}

const toAnswer = <R extends { created_at: Date; updated_at: Date }>(row: R) => ({
  ...row,
  created_at: toTimestamp(row.created_at),
  updated_at: toTimestamp(row.updated_at),
})
