import type { Route } from '../../auth/route.ts'
import type { HparamTables } from '../../projector/hparams/table.ts'
import { hparamsAnswer } from '../../schemas/hparams.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { one } from '../reading/list.ts'
import type { Reads } from '../reading/reads.ts'
import { type AccessTables, ofRun } from '../rules/access.ts'

/** Maximum number of changes, newest first; the audit has them all. */
const maxChanges = 1000

export const hparamRoutes = (reads: Reads<HparamTables & AccessTables>): Route[] => [
  one({
    ...ofRun(reads),
    path: '/api/runs/{run_id}/hparams',
    tag: 'runs',
    summary: 'The hyperparameters of a run and how they changed',
    response: hparamsAnswer,
    async read({ run_id, db }) {
      // Read before the values, so that the values include every change listed.
      const changes = await db
        .selectFrom('run_hparam_changes')
        .select(['key', 'from', 'to', 'at'])
        .where('run_id', '=', run_id)
        .orderBy('version', 'desc')
        .orderBy('place', 'desc')
        .limit(maxChanges)
        .execute()
      const row = await db
        .selectFrom('run_hparams')
        .select('params')
        .where('run_id', '=', run_id)
        .executeTakeFirst()
      return {
        params: row?.params ?? {},
        changes: changes.reverse().map(change => ({ ...change, at: toTimestamp(change.at) })),
      }
    },
  }),
]
