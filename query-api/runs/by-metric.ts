import { type Kysely, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import type { MetricTables } from '../../projector/metrics/table.ts'
import type { RunTables } from '../../projector/runs/table.ts'
import { maxExactCount } from '../reading/page.ts'
import { orderedLast } from '../rules/ordered-last.ts'
import type { StoredRun } from './record.ts'

type Views = RunTables & MetricTables
export type Db = Kysely<Views>
/** A query with its filters, before its columns are selected. */
export type Runs = SelectQueryBuilder<Views, 'runs', object>
export type Page = { limit: number; offset: number }

export type MetricSort = { key: string; of: 'last' | 'min' | 'max'; desc: boolean }

/** Parses `metric:<key>:last|min|max`, with a leading `-` for descending; null for any other order. */
export function parseMetricSort(sort: string): MetricSort | null {
  const [, minus, key, of] = /^(-?)metric:(.+):(last|min|max)$/s.exec(sort) ?? []
  if (key === undefined || (of !== 'last' && of !== 'min' && of !== 'max')) return null
  return { key, of, desc: minus === '-' }
}

/**
 * Up to this many runs are passed to Postgres by id. From a filter alone it may overestimate the number of runs
 * and scan the whole index of the metric (480 ms instead of 15 at 100,000 runs).
 */
const fewRuns = 500

/** Runs with a value for the metric first, in its order; then the others, newest first. */
export async function runsByMetric(
  db: Db,
  filtered: Runs,
  { key, of, desc }: MetricSort,
  page: Page & { counted: number },
): Promise<StoredRun[]> {
  if (page.counted === 0) return []
  const runs = page.counted <= fewRuns ? await named(db, filtered) : filtered
  const name = await db
    .selectFrom('metric_name')
    .select('key_no')
    .where('key', '=', key)
    .executeTakeFirst()
  const metric = { keyNo: name?.key_no ?? -1, of }
  const first = await firstByMetric(db, runs, metric, { ...page, desc })
  if (first.length === page.limit) return first
  const having = page.offset === 0 ? first.length : await countHaving(db, runs, metric)
  // Beyond the counting limit there may still be others.
  if (having >= page.counted && page.counted <= maxExactCount) return first
  const rest = await runsWithout(runs, metric, {
    limit: page.limit - first.length,
    offset: Math.max(0, page.offset - having),
  })
  return [...first, ...rest]
}

async function named(db: Db, filtered: Runs): Promise<Runs> {
  const rows = await filtered.select('runs.run_id').execute()
  return byId(
    db,
    rows.map(row => row.run_id),
  )
}

export const byId = (db: Db, ids: readonly string[]): Runs =>
  db.selectFrom('runs').where(sql<SqlBool>`runs.run_id = any(${ids})`)

type Metric = { keyNo: number; of: MetricSort['of'] }
/** The summaries of a run are in exactly one of these views. */
type SummaryView = 'settled_of_runs' | 'latest_of_runs'

/**
 * Takes the first rows of each table separately, so that settled runs come from an index scan with a limit; one
 * order over both tables would sort all rows.
 */
async function firstByMetric(
  db: Db,
  runs: Runs,
  metric: Metric,
  { limit, offset, desc }: Page & { desc: boolean },
): Promise<StoredRun[]> {
  const direction = desc ? 'desc' : 'asc'
  const firstOf = (view: SummaryView) =>
    withMetric(runs, view, metric)
      .selectAll('runs')
      .select(['s.run_no', numberOf(metric.of).as('value')])
      .orderBy(numberOf(metric.of), direction)
      .orderBy('s.run_no', direction)
      .limit(limit + offset)
  const rows = await db
    .selectFrom(
      db
        .selectFrom(firstOf('settled_of_runs').as('settled'))
        .selectAll()
        .unionAll(db.selectFrom(firstOf('latest_of_runs').as('latest')).selectAll())
        .as('both'),
    )
    .selectAll()
    .orderBy('value', direction)
    .orderBy('run_no', direction) // a total order, or pages overlap
    .limit(limit)
    .offset(offset)
    .execute()
  return rows.map(({ run_no: _, value: __, ...run }) => run)
}

const withMetric = (runs: Runs, view: SummaryView, { keyNo, of }: Metric) =>
  runs
    .innerJoin(`${view} as s`, 's.run_id', 'runs.run_id')
    .where('s.key_no', '=', keyNo)
    .where(numberOf(of), 'is not', null)

/** Must match the indexes of metric_settled; extremes are never NaN. */
const numberOf = (of: MetricSort['of']) =>
  of === 'last' ? orderedLast : sql<number>`${sql.ref(`s.${of}`)}`

async function countHaving(db: Db, runs: Runs, metric: Metric): Promise<number> {
  const ids = (view: SummaryView) => withMetric(runs, view, metric).select('runs.run_id')
  const { count } = await db
    .selectFrom(ids('settled_of_runs').unionAll(ids('latest_of_runs')).as('having'))
    .select(eb => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

const runsWithout = (runs: Runs, metric: Metric, { limit, offset }: Page): Promise<StoredRun[]> =>
  runs
    .selectAll('runs')
    .where(lacks(metric, 'settled_of_runs'))
    .where(lacks(metric, 'latest_of_runs'))
    .orderBy('runs.created_at', 'desc')
    .orderBy('runs.run_id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute()

const lacks = ({ keyNo, of }: Metric, view: SummaryView) => sql<SqlBool>`
  not exists (select from ${sql.table(view)} s
               where s.run_id = runs.run_id and s.key_no = ${keyNo} and ${numberOf(of)} is not null)`
