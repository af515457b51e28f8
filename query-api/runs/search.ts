import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import { containing } from '../../platform/search-text.ts'
import type { MetricTables } from '../../projector/metrics/table.ts'
import type { Condition, RunSearch } from '../../schemas/runs/search.ts'
import { toFinite } from '../../schemas/runs/search-words.ts'
import { orderedLast } from '../rules/ordered-last.ts'
import { matching, sign } from '../rules/search.ts'
import { inStates, isMarked } from './list.ts'

/** SQL condition on `runs`; null is true. `within`: ids that include all candidate runs, null for any. */
type Matcher = (search: RunSearch | null, within: Within) => RawBuilder<SqlBool>
type Within = readonly string[] | null

/** The key is looked up once, not per run, even if no run ever reported it. */
export async function searchMatcher(
  db: Kysely<MetricTables>,
  search: RunSearch | null,
): Promise<Matcher> {
  const keys = [
    ...new Set(
      search ? conditionsOf(search).flatMap(one => (one.kind === 'metric' ? [one.key] : [])) : [],
    ),
  ]
  const { rows } =
    keys.length === 0
      ? { rows: [] }
      : await sql<{ key: string; key_no: number }>`
          select key, key_no from metric_name where key = any(${keys})`.execute(db)
  const keyNos = new Map(rows.map(row => [row.key, row.key_no]))
  return (part, within) =>
    part ? matching(part, one => matchOne(one, { keyNos, within })) : sql`true`
}

function conditionsOf(search: RunSearch): Condition[] {
  if ('items' in search) return search.items.flatMap(conditionsOf)
  if (search.kind === 'not') return conditionsOf(search.item)
  return [search]
}

type Scope = { keyNos: ReadonlyMap<string, number>; within: Within }

function matchOne(search: Condition, scope: Scope): RawBuilder<SqlBool> {
  switch (search.kind) {
    case 'word':
      return sql`runs.search like ${containing(search.text)}`
    case 'field':
      return matchField(search)
    case 'time':
      return sql`${sql.ref(`runs.${search.field}_at`)} ${sign(search.op)} ${new Date(search.at)}::timestamptz`
    case 'metric':
      return matchMetric(search, scope)
    case 'hparam':
      return matchHparam(search, scope)
    case 'label':
      return matchLabel(search, scope)
  }
}

function matchField({ field, op, value }: Condition & { kind: 'field' }): RawBuilder<SqlBool> {
  const matches = matchWord(field, value)
  return op === '=' ? matches : sql`(${matches}) is not true`
}

function matchWord(
  field: (Condition & { kind: 'field' })['field'],
  value: string,
): RawBuilder<SqlBool> {
  if (field === 'state') return inStates([value])
  if (field === 'tag') return sql`runs.tags @> array[${value}]::text[]`
  if (field === 'starred' || field === 'archived') return isMarked(field, value === 'true')
  if (field !== 'recipe') return sql`${sql.ref(`runs.${field}`)} = ${value}`
  return sql`${value} in (runs.recipe_name, runs.recipe_name || '@' || runs.recipe_version)`
}

function matchMetric(
  { key, of, op, value }: Condition & { kind: 'metric' },
  { keyNos, within }: Scope,
): RawBuilder<SqlBool> {
  const keyNo = keyNos.get(key)
  if (keyNo === undefined) return sql`false`
  const number = of === 'last' ? orderedLast : sql.ref(`s.${of}`)
  const found = sql`s.key_no = ${keyNo} and ${number} ${sign(op)} ${value}::float8 ${among('s', within)}`
  // `is true` keeps PostgreSQL from joining: it gathers the runs that match once, then looks each run up among them in the
  // order of the list, until it has enough.
  return sql`(runs.run_id in (select s.run_id from searched_summaries s where ${found})) is true`
}

const among = (table: 's' | 'v' | 'l', within: Within) =>
  within === null ? sql`` : sql`and ${sql.ref(`${table}.run_id`)} = any(${within})`

function matchHparam(
  { key, op, value }: Condition & { kind: 'hparam' },
  { within }: Scope,
): RawBuilder<SqlBool> {
  const number = toFinite(value)
  const found =
    number === null
      ? sql`v.text ${sign(op)} ${value}`
      : op === '!='
        ? sql`v.number is distinct from ${number}::float8`
        : sql`v.number ${sign(op)} ${number}::float8`
  return sql`runs.run_id in (select v.run_id from hparams_of_runs v where v.key = ${key} and ${found} ${among('v', within)})`
}

/** Indexed by the first 256 characters, more than a search may have. */
function matchLabel(
  { key, op, value }: Condition & { kind: 'label' },
  { within }: Scope,
): RawBuilder<SqlBool> {
  const found = sql`left(l.value, 256) ${sign(op)} ${value}`
  return sql`runs.run_id in (select l.run_id from labels_of_runs l where l.key = ${key} and ${found} ${among('l', within)})`
}
