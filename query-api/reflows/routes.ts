import type { Kysely, Selectable } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import type { Route } from '../../auth/route.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { ReflowTables } from '../../projector/reflows/table.ts'
import { reflowDetail, reflowListQuery, reflowPath, reflowRow } from '../../schemas/reflows.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { list, one } from '../reading/list.ts'
import { asCaller, type Reads } from '../reading/reads.ts'

export type Tables = ReflowTables

export const reflowRoutes = (reads: Reads<Tables>): Route[] => [
  list({
    ...asCaller(reads),
    path: '/api/reflows',
    tag: 'reflows',
    summary: 'List your reflows, the newest first; admins see those of everybody',
    query: reflowListQuery,
    row: reflowRow,
    matching: ({ db }, { caller }) => shownTo(db, caller),
    select: found => found.selectAll().orderBy('created_at', 'desc').orderBy('reflow_id'),
    shape: rows => rows.map(toRow),
  }),
  one({
    ...asCaller(reads),
    path: '/api/reflows/{reflow_id}',
    reach: 'its_people',
    tag: 'reflows',
    summary: 'Read a reflow with its newest firings',
    params: reflowPath,
    refusals: ['not_found'],
    response: reflowDetail,
    async read({ db }, { caller, params: { reflow_id } }) {
      const found = shownTo(db, caller).where('reflow_id', '=', reflow_id)
      const row = await found.selectAll().executeTakeFirst()
      if (!row) throw new Refusal('not_found', `No such reflow: ${reflow_id}`)
      const fired = await db
        .selectFrom('reflow_firings')
        .selectAll()
        .where('reflow_id', '=', reflow_id)
        .orderBy('firing', 'desc')
        .limit(50)
        .execute()
      return {
        ...toRow(row),
        fired: fired.map(({ reflow_id: _, started_at, ended_at, ...firing }) => ({
          ...firing,
          started_at: toTimestamp(started_at),
          ended_at: ended_at && toTimestamp(ended_at),
        })),
      }
    },
  }),
]

const shownTo = (db: Kysely<Tables>, { role, username }: Person) => {
  const living = db.selectFrom('reflows').where('deleted_at', 'is', null)
  return role === 'admin' ? living : living.where('owner', '=', username)
}

const toRow = ({ deleted_at: _, ...row }: Selectable<Tables['reflows']>) => ({
  ...row,
  schedule_id: null,
  created_at: toTimestamp(row.created_at),
  updated_at: toTimestamp(row.updated_at),
})
