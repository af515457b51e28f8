import { type Kysely, type SqlBool, sql } from 'kysely'
import type { Route } from '../../auth/route.ts'
import type { HparamTables } from '../../projector/hparams/table.ts'
import type { MetricTables } from '../../projector/metrics/table.ts'
import {
  type HparamImportance,
  importance,
  importanceLimits,
  importanceQuery,
} from '../../schemas/importance.ts'
import { Invalid } from '../../schemas/validate.ts'
import { one } from '../reading/list.ts'
import { inProject } from '../rules/access.ts'
import { correlate } from './correlation.ts'
import type { WorkspaceDeps } from './deps.ts'
import { importancesInThread } from './in-thread.ts'

export const importanceRoute = ({ reads, runsOfProject }: WorkspaceDeps): Route =>
  one({
    ...inProject(reads),
    path: '/api/projects/{name}/importance',
    tag: 'projects',
    summary: 'Which hyperparameters matter for a metric, over the runs of a project',
    query: importanceQuery,
    response: importance,
    refusals: ['not_found', 'rate_limited'],
    async read({ db }, { caller, params, query }) {
      const metric = parseMetric(query.metric)
      const asked = { project: params.name, q: query.q, ids: null, limit: importanceLimits.runs }
      const { matched, runs } = await runsOfProject(db, caller, asked)
      const runIds = runs.map(run => run.run_id)
      const ofRuns = reads.as(caller, runIds)
      const target = await readTarget(ofRuns, runIds, metric)
      const { columns, differing } = await readColumns(ofRuns, [...target.keys()])
      const hparams = await weigh(columns, target, query.seed ?? 0)
      return { matched, runs: target.size, hparams, left_out: differing - columns.length }
    },
  })

type Metric = { key: string; of: 'last' | 'min' | 'max' }

function parseMetric(text: string): Metric {
  const [, key, of] = /^(.+):(last|min|max)$/s.exec(text) ?? []
  if (key !== undefined && (of === 'last' || of === 'min' || of === 'max')) return { key, of }
  const msg = "Input should be '<key>:last', '<key>:min' or '<key>:max'"
  throw new Invalid([{ loc: ['query', 'metric'], msg, type: 'value_error', input: text }])
}

/** The finite values of a metric by run. */
async function readTarget(
  db: Kysely<MetricTables>,
  runIds: readonly string[],
  { key, of }: Metric,
): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('metric_run as m')
    .innerJoin('metric_summary as s', 's.run_no', 'm.run_no')
    .innerJoin('metric_name as n', 'n.key_no', 's.key_no')
    .select(['m.run_id', `s.${of} as value`])
    .where('n.key', '=', key)
    .where(sql<SqlBool>`m.run_id = any(${runIds})`)
    .orderBy('m.run_id')
    .execute()
  return new Map(
    rows.flatMap(({ run_id, value }) =>
      value !== null && Number.isFinite(value) ? [[run_id, value]] : [],
    ),
  )
}

/** A hyperparameter that differs between the runs, with a number for the value of each run that has it. */
type Column = { key: string; isOrdered: boolean; distinct: number; values: Map<string, number> }

type Columns = {
  columns: Column[]
  /** How many hyperparameters differ between the runs, including those beyond the limit. */
  differing: number
}

/**
 * The hyperparameters that differ and that most runs have. PostgreSQL chooses them, because runs may have far more
 * hyperparameters than are compared.
 */
export async function readColumns(
  db: Kysely<HparamTables>,
  runIds: readonly string[],
): Promise<Columns> {
  const { rows } = await sql<Value & { key: string; differing: number }>`
    with differing as (
      select key, count(*) as runs from run_hparam_values where run_id = any(${runIds}) group by key
      having count(*) < ${runIds.length}
          or case when bool_and(number is not null) then min(number) <> max(number)
                  else min(text collate "C") <> max(text collate "C") end),
    chosen as (
      select key, runs, count(*) over () as differing from differing
       order by runs desc, key collate "C" limit ${importanceLimits.hparams})
    select v.run_id, v.key, v.text, v.number, c.differing
      from chosen c join run_hparam_values v on v.key = c.key and v.run_id = any(${runIds})
     order by c.runs desc, v.key collate "C", v.run_id`.execute(db)
  return {
    columns: [...Map.groupBy(rows, row => row.key)].map(([key, of]) => toColumn(key, of)),
    differing: rows[0]?.differing ?? 0,
  }
}

type Value = { run_id: string; text: string; number: number | null }

function toColumn(key: string, rows: readonly Value[]): Column {
  const texts = [...new Set(rows.map(row => row.text))].sort()
  const isNumeric = rows.every(({ number }) => number !== null)
  // Words have no order, so that their numbers mean nothing to a correlation; a forest splits by them nevertheless.
  const isOrdered = isNumeric || texts.every(text => text === 'true' || text === 'false')
  const placeOf = new Map(texts.map((text, place) => [text, place]))
  const values = new Map(
    rows.map(row => [
      row.run_id,
      isNumeric ? (row.number ?? 0) : text01(row.text, isOrdered, placeOf),
    ]),
  )
  return { key, isOrdered, distinct: new Set(values.values()).size, values }
}

const text01 = (text: string, isBoolean: boolean, placeOf: ReadonlyMap<string, number>) =>
  isBoolean ? Number(text === 'true') : (placeOf.get(text) ?? 0)

async function weigh(
  columns: readonly Column[],
  target: ReadonlyMap<string, number>,
  seed: number,
): Promise<HparamImportance[]> {
  if (columns.length === 0 || target.size < 2) return []
  const runIds = [...target.keys()]
  const shares = await importancesInThread({
    features: columns.map(column => featureOf(column, runIds)),
    target: Float64Array.from(target.values()),
    seed,
    trees: importanceLimits.trees,
  })
  return columns
    .map(({ key, isOrdered, distinct, values }, i) => {
      const pairs = [...values].map(([runId, value]) => [value, target.get(runId) ?? 0] as const)
      return {
        ...{ key, runs: values.size, distinct, importance: shares[i] ?? 0 },
        correlation: isOrdered
          ? correlate(
              pairs.map(([value]) => value),
              pairs.map(([, of]) => of),
            )
          : null,
      }
    })
    .sort((a, b) => b.importance - a.importance)
}

/** A run without the hyperparameter lies below all others. */
function featureOf({ values }: Column, runIds: readonly string[]): Float64Array {
  const least = [...values.values()].reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
  return Float64Array.from(runIds, runId => values.get(runId) ?? least - 1)
}
