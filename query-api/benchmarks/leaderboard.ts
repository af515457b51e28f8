import { type Kysely, sql } from 'kysely'
import type { BenchmarkTables } from '../../projector/benchmarks/table.ts'
import type { BenchmarkRecord, LeaderboardRow } from '../../schemas/benchmarks/catalogue.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import type { AccessTables } from '../rules/access.ts'

type Asked = { project: string | null; each: 'run' | 'result'; limit: number; offset: number }
type Row = Omit<LeaderboardRow, 'recorded_at'> & { recorded_at: Date; counted: number }

/**
 * Results in this version, task, split and metric, best first; of a result that was recorded again, its newest scores. Values that
 * are not finite numbers are last.
 */
export async function readLeaderboard(
  db: Kysely<BenchmarkTables & AccessTables>,
  benchmark: BenchmarkRecord,
  { project, each, limit, offset }: Asked,
) {
  const { name, version, task, split, metric } = benchmark
  const best = sql.raw(benchmark.higher_is_better ? 'desc' : 'asc')
  const { rows } = await sql<Row>`
    with newest as (
      select distinct on (run_id, result_id) run_id, result_id, recorded_at, result
        from run_benchmarks where benchmark = ${name} and result ->> 'version' = ${String(version)}
       order by run_id, result_id, revision desc),
    scored as (
      select n.run_id, n.result_id, n.recorded_at, n.result, score,
             case jsonb_typeof(score -> 'value') when 'number' then (score ->> 'value')::float8 end as number
        from newest n cross join lateral jsonb_array_elements(n.result -> 'scores') score
       where score ->> 'metric' = ${metric}
         and n.result ->> 'task' is not distinct from ${task}
         and n.result ->> 'split' is not distinct from ${split}),
    placed as (
      select s.*, r.short_id, r.name as run_name, r.project, r.owner,
             row_number() over (partition by s.run_id order by number ${best} nulls last, s.recorded_at, s.result_id) as of_run
        from scored s join readable_runs r using (run_id)
       where ${project}::text is null or r.project = ${project})
    select rank() over (order by number ${best} nulls last)::integer as rank, run_id, short_id,
           coalesce(run_name, short_id) as run_name, project, owner, score -> 'value' as value,
           (score ->> 'stderr')::float8 as stderr, (score ->> 'n')::float8 as n, (result ->> 'step')::float8 as step,
           result ->> 'artifact_id' as artifact_id, result ->> 'model' as model, result_id, recorded_at,
           count(*) over ()::integer as counted
      from placed where ${each} = 'result' or of_run = 1
     order by number ${best} nulls last, recorded_at, result_id limit ${limit} offset ${offset}`.execute(
    db,
  )
  return {
    rows: rows.map(({ counted, ...row }) => ({
      ...row,
      recorded_at: toTimestamp(row.recorded_at),
    })),
    counted: rows[0]?.counted ?? 0,
  }
}
