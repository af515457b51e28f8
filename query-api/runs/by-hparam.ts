import { sql } from 'kysely'
import type { HparamTables } from '../../projector/hparams/table.ts'
import type { Db, Page, Runs } from './by-metric.ts'
import type { StoredRun } from './record.ts'

type HparamSort = { key: string; desc: boolean }

/** Parses `hparam:<key>`, with a leading `-` for descending; null for any other order. */
export function parseHparamSort(sort: string): HparamSort | null {
  const [, minus, key] = /^(-?)hparam:(.+)$/s.exec(sort) ?? []
  return key === undefined ? null : { key, desc: minus === '-' }
}

/** Numbers by size, then other values as text; then the runs without the hyperparameter, newest first. */
export function runsByHparam(
  db: Db,
  runs: Runs,
  { key, desc }: HparamSort,
  { limit, offset }: Page,
): Promise<StoredRun[]> {
  return db
    .withTables<HparamTables>()
    .selectFrom(runs.selectAll('runs').as('found'))
    .leftJoin('hparams_of_runs as v', join =>
      join.onRef('v.run_id', '=', 'found.run_id').on('v.key', '=', key),
    )
    .selectAll('found')
    .orderBy('v.number', order => (desc ? order.desc() : order.asc()).nullsLast())
    .orderBy(sql`v.text collate "C"`, order => (desc ? order.desc() : order.asc()).nullsLast())
    .orderBy('found.created_at', 'desc')
    .orderBy('found.run_id', 'desc') // a total order, or pages overlap
    .limit(limit)
    .offset(offset)
    .execute()
}
