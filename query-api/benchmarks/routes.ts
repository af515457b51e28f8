import { type Kysely, sql } from 'kysely'
import { Type } from 'typebox'
import { type Route, route } from '../../auth/route.ts'
import type { BenchmarkTables } from '../../projector/benchmarks/table.ts'
import { type BenchmarkRow, benchmarkRow, benchmarksQuery } from '../../schemas/benchmarks.ts'
import { runIdInPath } from '../../schemas/shared.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { type AccessTables, findRun } from '../access.ts'
import { pageHeaders } from '../page.ts'
import type { Reads } from '../reads.ts'

/** Revisions of one result that are shown besides the one that counts. */
const maxHistory = 20

export const benchmarkRoutes = (reads: Reads<BenchmarkTables & AccessTables>): Route[] => [
  route({
    method: 'GET',
    path: '/api/runs/{run_id}/benchmarks',
    credential: 'person',
    reach: 'its_people',
    tag: 'runs',
    summary: 'What a run scored in benchmarks, and what it scored before',
    params: runIdInPath,
    query: benchmarksQuery,
    response: Type.Array(benchmarkRow),
    refusals: ['not_found'],
    async handle({ caller, params, query, ctx }) {
      const { run_id, db } = await findRun(reads, caller, params.run_id)
      const { limit = 50, offset = 0, benchmark } = query
      const ids = await findResults(db, run_id, benchmark)
      const page = ids.slice(offset, offset + limit)
      pageHeaders(ctx, { limit, offset, shown: page.length }, ids.length)
      return readResults(db, run_id, page)
    },
  }),
]

/** In the order of a table: by what was measured, then by step. At most 10,000, as many as a run may record. */
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
