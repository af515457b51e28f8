import { type Kysely, sql } from 'kysely'
import type { Route } from '../../auth/route.ts'
import type { BenchmarkTables } from '../../projector/benchmarks/table.ts'
import {
  type BenchmarkRow,
  benchmarkRow,
  benchmarksQuery,
} from '../../schemas/benchmarks/results.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { pagedList } from '../reading/list.ts'
import type { Reads } from '../reading/reads.ts'
import { type AccessTables, ofRun } from '../rules/access.ts'

/** Maximum number of earlier revisions shown per result. */
const maxHistory = 20

export const benchmarkRoutes = (reads: Reads<BenchmarkTables & AccessTables>): Route[] => [
  pagedList({
    ...ofRun(reads),
    path: '/api/runs/{run_id}/benchmarks',
    tag: 'runs',
    summary: 'What a run scored in benchmarks, and what it scored before',
    query: benchmarksQuery,
    row: benchmarkRow,
    async read({ run_id, db }, { query }, { limit, offset }) {
      const ids = await findResults(db, run_id, query.benchmark)
      const rows = await readResults(db, run_id, ids.slice(offset, offset + limit))
      return { rows, counted: ids.length }
    },
  }),
]

/** In table order: by benchmark, then by step. At most 10,000, the number that a run may record. */
async function findResults(
  db: Kysely<BenchmarkTables>,
  runId: string,
  benchmark: string | undefined,
): Promise<string[]> {
  const { rows } = await sql<{ result_id: string }>`
    select result_id from (
      select distinct on (result_id) result_id, result from run_benchmarks
       where run_id = ${runId} and (${benchmark ?? null}::text is null or benchmark = ${benchmark ?? null})
       order by result_id, revision desc) newest
     order by result ->> 'benchmark', result ->> 'version', result ->> 'task', result ->> 'split',
              (result ->> 'step')::bigint, result_id`.execute(db)
  return rows.map(row => row.result_id)
}

async function readResults(
  db: Kysely<BenchmarkTables>,
  runId: string,
  ids: readonly string[],
): Promise<BenchmarkRow[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('run_benchmarks')
    .select(['result_id', 'recorded_at', 'result'])
    .where('run_id', '=', runId)
    .where('result_id', 'in', ids)
    .orderBy('revision', 'desc')
    .execute()
  const byId = Map.groupBy(rows, row => row.result_id)
  return ids.flatMap(result_id => {
    const [newest, ...before] = byId.get(result_id) ?? []
    if (!newest) return []
    const history = before.slice(0, maxHistory).map(({ recorded_at, result }) => ({
      recorded_at: toTimestamp(recorded_at),
      model: result.model,
      samples_uri: result.samples_uri,
      scores: result.scores,
    }))
    return [{ result_id, ...newest.result, recorded_at: toTimestamp(newest.recorded_at), history }]
  })
}
