import type { Kysely } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import { type Route, route } from '../../auth/route.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { RubricTables } from '../../projector/rubrics/table.ts'
import { rubric, rubricListQuery, rubricPath } from '../../schemas/rubrics.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { listRoute } from '../list-route.ts'
import { countRows } from '../page.ts'
import type { Reads } from '../reads.ts'

export const rubricRoutes = (reads: Reads<RubricTables>): Route[] => [
  listRoute({
    path: '/api/rubrics',
    credential: 'person',
    tag: 'rubrics',
    summary: 'List the rubrics one may read',
    query: rubricListQuery,
    row: rubric,
    async read({ caller, query: { owner } }, { limit, offset }) {
      const db = reads.as(caller)
      let readable = readableRubrics(db, caller)
      if (owner !== undefined) readable = readable.where('owner', '=', owner)
      const rows = await readable
        .selectAll()
        .orderBy('owner')
        .orderBy('name') // a total order, or pages overlap
        .limit(limit)
        .offset(offset)
        .execute()
      return { rows: rows.map(toAnswer), counted: await countRows(db, readable.select('name')) }
    },
  }),
  route({
    method: 'GET',
    path: '/api/rubrics/{owner}/{name}',
    credential: 'person',
    reach: 'its_people',
    tag: 'rubrics',
    summary: 'Read a rubric',
    params: rubricPath,
    response: rubric,
    refusals: ['not_found'],
    async handle({ caller, params }) {
      const row = await readableRubrics(reads.as(caller), caller)
        .selectAll()
        .where('owner', '=', params.owner)
        .where('name', '=', params.name)
        .executeTakeFirst()
      if (!row) throw new Refusal('not_found', `No such rubric: ${params.owner}/${params.name}`)
      return toAnswer(row)
    },
  }),
]

/** A private rubric of another owner looks like a missing one, except to admins. */
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
