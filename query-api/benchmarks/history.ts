import { type Kysely, sql } from 'kysely'
import type { BenchmarkTables } from '../../projector/benchmarks/table.ts'
import type { BenchmarkRecord, HistoryRow } from '../../schemas/benchmarks/catalogue.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import type { AccessTables } from '../rules/access.ts'

type Asked = { project: string | null; limit: number; offset: number }
type Row = Omit<HistoryRow, 'recorded_at'> & { recorded_at: Date; counted: number }

/** Every score recorded in this version, task, split and metric, newest first, including replaced ones. */
export async function readHistory(
  db: Kysely<BenchmarkTables & AccessTables>,
  { name, version, task, split, metric }: BenchmarkRecord,
  { project, limit, offset }: Asked,
) {
  const { rows } = await sql<Row>`
    select b.run_id, r.short_id, coalesce(r.name, r.short_id) as run_name, r.project, r.recipe_name as recipe,
           b.result ->> 'model' as model, score -> 'value' as value, (score ->> 'stderr')::float8 as stderr,
           (score ->> 'n')::float8 as n, (b.result ->> 'step')::float8 as step,
           b.result ->> 'artifact_id' as artifact_id, b.result_id, b.recorded_at,
           b.revision = max(b.revision) over (partition by b.run_id, b.result_id) as is_current,
           count(*) over ()::integer as counted
      from run_benchmarks b cross join lateral jsonb_array_elements(b.result -> 'scores') score
      join readable_runs r on r.run_id = b.run_id
     where b.benchmark = ${name} and b.result ->> 'version' = ${String(version)} and score ->> 'metric' = ${metric}
       and b.result ->> 'task' is not distinct from ${task} and b.result ->> 'split' is not distinct from ${split}
       and (${project}::text is null or r.project = ${project})
     order by b.recorded_at desc, b.run_id, b.revision desc limit ${limit} offset ${offset}`.execute(
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
