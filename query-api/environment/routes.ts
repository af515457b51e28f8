import { type Kysely, sql } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import type { Route } from '../../auth/route.ts'
import type { EnvironmentTables } from '../../projector/environment/table.ts'
import { environmentAnswer, environmentQuery, nodesAnswer } from '../../schemas/environment.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { one } from '../reading/list.ts'
import type { Reads } from '../reading/reads.ts'
import { type AccessTables, findRun, ofRun } from '../rules/access.ts'
import { differencesOf } from './differences.ts'

export type Tables = EnvironmentTables & AccessTables

export const environmentRoutes = (reads: Reads<Tables>): Route[] => [
  one({
    ...ofRun(reads),
    tag: 'runs',
    path: '/api/runs/{run_id}/environment',
    summary: 'What a run runs on and with, and in what this differs from another run',
    query: environmentQuery,
    response: environmentAnswer,
    async read({ run_id, db }, { caller, query }) {
      const found = await readPicture(db, run_id)
      const own = {
        digest: found?.digest ?? null,
        captured_at: found ? toTimestamp(found.captured_at) : null,
        environment: found?.picture ?? null,
      }
      return query.against === undefined
        ? own
        : { ...own, ...(await compare(reads, caller, query.against, found?.picture ?? {})) }
    },
  }),
  one({
    ...ofRun(reads),
    tag: 'runs',
    path: '/api/runs/{run_id}/environment/nodes',
    summary: 'The machines of a multi-node run',
    response: nodesAnswer,
    async read({ run_id, db }) {
      const rows = await db
        .selectFrom('run_nodes')
        .select(['node', 'reported_at', 'facts'])
        .where('run_id', '=', run_id)
        .orderBy(sql`(facts ->> 'node_rank')::bigint`)
        .orderBy('node')
        .execute()
      return rows.map(row => ({ ...row, reported_at: toTimestamp(row.reported_at) }))
    },
  }),
]

const readPicture = (db: Kysely<EnvironmentTables>, runId: string) =>
  db
    .selectFrom('run_environments as r')
    .innerJoin('environments as e', 'e.digest', 'r.digest')
    .select(['r.digest', 'r.captured_at', 'e.picture'])
    .where('r.run_id', '=', runId)
    .executeTakeFirst()

async function compare(
  reads: Reads<Tables>,
  caller: Person,
  id: string,
  picture: Record<string, unknown>,
) {
  const { run_id, db } = await findRun(reads, caller, id)
  const other = await readPicture(db, run_id)
  return {
    against: { run_id, digest: other?.digest ?? null },
    differences: differencesOf(picture, other?.picture ?? {}),
  }
}
