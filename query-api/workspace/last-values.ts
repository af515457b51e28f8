import { type QueryExecutorProvider, sql } from 'kysely'
import type { ProjectSeries } from '../../schemas/series.ts'
import { deviation } from './combine.ts'

type Last = NonNullable<ProjectSeries['keys'][number]['curves'][number]['last']>

/** For each of the keys, the last value of each run in their order; NaN for a run without one. */
export async function readLastValues(
  db: QueryExecutorProvider,
  runIds: readonly string[],
  keys: readonly string[],
): Promise<ReadonlyMap<string, readonly number[]>> {
  const { rows } = await sql<{ run_id: string; key: string; last: number }>`
    select m.run_id, n.key, s.last
      from metric_run m join metric_summary s using (run_no) join metric_name n using (key_no)
     where m.run_id = any(${runIds}::text[]) and n.key = any(${keys}::text[])`.execute(db)
  const byKey = Map.groupBy(rows, row => row.key)
  return new Map(
    keys.map(key => {
      const found = new Map(byKey.get(key)?.map(({ run_id, last }) => [run_id, last]))
      return [key, runIds.map(id => found.get(id) ?? Number.NaN)]
    }),
  )
}

/** Over the runs of a group with a finite last value; `members` are indexes in `values`. */
export function lastOfGroup(values: readonly number[], members: readonly number[]): Last {
  const finite = members.map(of => values[of] ?? Number.NaN).filter(Number.isFinite)
  if (finite.length === 0) return { mean: null, std: null, runs: 0 }
  const { mean, std } = deviation(finite)
  return { mean, std, runs: finite.length }
}
