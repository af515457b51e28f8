import type { RunRow } from '../../../../../schemas/runs/records.ts'
import { joinNames, splitNames } from './names.ts'

/**
 * Columns that every run has; all others are metrics, `metric:<key>:last|min|max`, and hyperparameters,
 * `hparam:<key>`.
 */
export const fields = [
  'name',
  'state',
  'project',
  'owner',
  'created_at',
  'duration_s',
  'best',
  'tags',
  'notes',
  'recipe',
  'ended_at',
  'points',
  'log_bytes',
] as const
export type FieldName = (typeof fields)[number]

const numbers: ReadonlySet<string> = new Set(['duration_s', 'best', 'points', 'log_bytes'])

/** Right-aligned; so are hyperparameters, most of which are numbers. */
export const isNumeric = (column: string): boolean =>
  numbers.has(column) || metricOf(column) !== null || hparamOf(column) !== null

export type MetricColumn = { key: string; of: 'last' | 'min' | 'max' }

/** Only a few, because more can be added, and the address keeps them. */
export const usualColumns: readonly string[] = fields.slice(0, 7)

/** Most columns of either kind: the server returns values for no more names at once. */
const mostNamed = 30

/** The columns that the server can sort by. */
const sortable: ReadonlySet<string> = new Set([
  'name',
  'state',
  'project',
  'owner',
  'created_at',
  'ended_at',
  'duration_s',
])

export const isSortable = (column: string): boolean =>
  sortable.has(column) || metricOf(column) !== null || hparamOf(column) !== null

/** Null for a field. Keys may hold colons themselves. */
export function metricOf(column: string): MetricColumn | null {
  const [, key, of] = /^metric:(.+):(last|min|max)$/s.exec(column) ?? []
  return key === undefined ? null : { key, of: of as MetricColumn['of'] }
}

/** Null for any other column. */
export const hparamOf = (column: string): string | null =>
  /^hparam:(.+)$/s.exec(column)?.[1] ?? null

export const isColumn = (name: string): boolean =>
  fields.some(field => field === name) || metricOf(name) !== null || hparamOf(name) !== null

/** The columns in an address; none for an empty text. */
export const columnsOf = (text: string | undefined): string[] =>
  text === undefined ? [...usualColumns] : splitNames(text).filter(isColumn)

/** Columns in the format of the address; undefined for the default ones. */
export const textOfColumns = (columns: readonly string[]): string | undefined =>
  columns.join() === usualColumns.join() ? undefined : joinNames(columns)

type Named = { metrics: string | undefined; hparams: string | undefined }

/** The names whose values the server must return. */
export function namesOfColumns(columns: readonly string[]): Named {
  const text = (names: (string | null | undefined)[]) => {
    const known = [...new Set(names.flatMap(name => name ?? []))]
    return known.length === 0 ? undefined : joinNames(known.slice(0, mostNamed))
  }
  return {
    metrics: text(columns.map(column => metricOf(column)?.key)),
    hparams: text(columns.map(hparamOf)),
  }
}

/** The next order after a click on a column head: descending, ascending, and descending again. */
export const nextSort = (column: string, now: string): string =>
  now === `-${column}` ? column : `-${column}`

export const valueOfMetric = (run: RunRow, { key, of }: MetricColumn): number | string | null =>
  run.summary[key]?.[of] ?? null

/** The reported value; undefined for a run without it. */
export const valueOfHparam = (run: RunRow, key: string): string | undefined => {
  const value = run.hparams?.[key]
  return value === undefined ? undefined : String(value)
}

/** How an order sorts a column. */
export function orderOf(column: string, sort: string): 'descending' | 'ascending' | 'none' {
  if (sort === `-${column}`) return 'descending'
  return sort === column ? 'ascending' : 'none'
}
