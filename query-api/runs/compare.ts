import { type Kysely, sql } from 'kysely'
import { toJsonNumber } from '../../platform/series/json-number.ts'
import type { EnvironmentTables } from '../../projector/environment/table.ts'
import type { HparamTables, Scalar } from '../../projector/hparams/table.ts'
import type { MetricTables } from '../../projector/metrics/table.ts'
import { comparedRuns, maxComparedFacts, maxComparedMetrics } from '../../schemas/runs/compare.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { Invalid } from '../../schemas/validate.ts'
import { factsOf } from '../rules/facts.ts'
import type { StoredRun } from './record.ts'

/** The ids of a request; 422 unless they are 2 to 20. */
export function parseIds(text: string): string[] {
  const ids = text.split(',').map(id => id.trim())
  const { least, most } = comparedRuns
  if (ids.length >= least && ids.length <= most) return ids
  throw new Invalid([
    {
      loc: ['query', 'ids'],
      msg: `List should have ${least} to ${most} items, not ${ids.length}`,
      type: ids.length < least ? 'too_short' : 'too_long',
      ctx: { min_length: least, max_length: most, actual_length: ids.length },
    },
  ])
}

type Db = Kysely<HparamTables & MetricTables & EnvironmentTables>

/** The differences between these runs, or all values: one section per kind of data. */
export async function compareRuns(db: Db, runs: readonly StoredRun[], isAll: boolean) {
  const chosen = isAll ? allRows : differences
  const [hparams, environments, metrics] = await Promise.all([
    readHparams(db, runs),
    readEnvironments(db, runs),
    readMetrics(db, runs),
  ])
  return {
    runs: runs.map(identityOf),
    hparams: chosen(hparams),
    environment: ofKnown(environments, chosen),
    data: chosen(runs.map(dataOf)),
    metrics,
  }
}

function identityOf({ created_at, started_at, ended_at, ...run }: StoredRun) {
  const { run_id, short_id, name, project, owner, state } = run
  return {
    ...{ run_id, short_id, name, project, owner, state },
    created_at: toTimestamp(created_at),
    started_at: started_at && toTimestamp(started_at),
    ended_at: ended_at && toTimestamp(ended_at),
  }
}

type Values = readonly ReadonlyMap<string, Scalar>[]

/** All keys, by name; a run without a key has null. */
function allRows(runs: Values) {
  const keys = [...new Set(runs.flatMap(values => [...values.keys()]))].sort()
  return keys.map(key => ({ key, values: runs.map(values => values.get(key) ?? null) }))
}

/** Only the keys with different values. */
export const differences = (runs: Values) =>
  allRows(runs).filter(
    ({ key, values }) => new Set(values).size > 1 || runs.some(one => !one.has(key)),
  )

const dataOf = ({ recipe_name, recipe_version, datasets, init_from }: StoredRun) =>
  new Map<string, Scalar>([
    ['datasets', datasets.toSorted().join(', ') || null],
    ['init_from', init_from.join(', ') || null],
    ['recipe', recipe_name && `${recipe_name}@${recipe_version}`],
  ])

async function readHparams(db: Db, runs: readonly StoredRun[]) {
  const rows = await db
    .selectFrom('run_hparams')
    .select(['run_id', 'params'])
    .where(sql<boolean>`run_id = any(${runs.map(run => run.run_id)})`)
    .execute()
  const params = new Map(rows.map(row => [row.run_id, row.params]))
  return runs.map(run => new Map(Object.entries(params.get(run.run_id) ?? {})))
}

type Facts = ReadonlyMap<string, Scalar>

/** The facts of each run's environment; null for a run that reported none. */
async function readEnvironments(db: Db, runs: readonly StoredRun[]): Promise<(Facts | null)[]> {
  const rows = await db
    .selectFrom('run_environments as r')
    .innerJoin('environments as e', 'e.digest', 'r.digest')
    .select(['r.run_id', 'e.picture'])
    .where(sql<boolean>`r.run_id = any(${runs.map(run => run.run_id)})`)
    .execute()
  const facts = new Map(
    rows.map(({ run_id, picture }) => [run_id, new Map(factsOf(picture) as [string, Scalar][])]),
  )
  return runs.map(({ run_id }) => facts.get(run_id) ?? null)
}

/** Compares known environments only: a run that reported none has no differences. */
function ofKnown(environments: readonly (Facts | null)[], chosen: typeof allRows) {
  const known = environments.filter(one => one !== null)
  return chosen(known)
    .slice(0, maxComparedFacts)
    .map(({ key }) => ({ key, values: environments.map(one => one?.get(key) ?? null) }))
}

async function readMetrics(db: Db, runs: readonly StoredRun[]) {
  const runIds = runs.map(run => run.run_id)
  type Row = { key: string; run_ids: string[]; last: number[]; min: number[]; max: number[] }
  const { rows } = await sql<Row>`
    select n.key, array_agg(m.run_id) as run_ids, array_agg(s.last) as last, array_agg(s.min) as min,
           array_agg(s.max) as max
      from metric_run m join metric_summary s using (run_no) join metric_name n using (key_no)
     where m.run_id = any(${runIds})
     group by n.key having count(*) = ${new Set(runIds).size}
     order by n.key collate "C" limit ${maxComparedMetrics}`.execute(db)
  return rows.map(({ key, run_ids, ...row }) => {
    const goal = goalOf(key, runs)
    const inOrder = <T>(values: readonly T[]) =>
      runIds.map(id => values[run_ids.indexOf(id)] ?? null)
    const last = inOrder(row.last).map(value => toJsonNumber(value ?? Number.NaN))
    return { key, last, goal, best: inOrder(row[goal]) }
  })
}

const lessIsBetter = /loss|error|perplexity|ppl|\b(mse|mae|rmse|wer|cer|nll)\b/i

function goalOf(key: string, runs: readonly StoredRun[]): 'min' | 'max' {
  const asked = runs.find(run => run.best_key === key)?.best_goal
  return asked ?? (lessIsBetter.test(key) ? 'min' : 'max')
}
