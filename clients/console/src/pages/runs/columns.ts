import type { RunRow } from '../../../../../schemas/run-records.ts'

/** Columns that each run has; all others are metrics: `metric:<key>:last|min|max`. */
export const fields = [
  'name',
  'state',
  'project',
  'owner',
  'created_at',
  'duration_s',
  'best',
  'tags',
  'recipe',
  'ended_at',
  'points',
  'log_bytes',
] as const
export type FieldName = (typeof fields)[number]

export type MetricColumn = { key: string; of: 'last' | 'min' | 'max' }

/** Few, because whoever needs another adds it, and the address keeps it. */
export const usualColumns: readonly string[] = fields.slice(0, 7)

/** What the server can sort by. */
const sortable: ReadonlySet<string> = new Set([
  'name',
  'state',
  'project',
  'owner',
  'created_at',
  'ended_at',
])

export const isSortable = (column: string): boolean =>
  sortable.has(column) || metricOf(column) !== null

/** Null for a field. Keys may hold colons themselves. */
export function metricOf(column: string): MetricColumn | null {
  const [, key, of] = /^metric:(.+):(last|min|max)$/.exec(column) ?? []
  return key === undefined ? null : { key, of: of as MetricColumn['of'] }
}

/** The columns that an address asks for. */
export const columnsOf = (text: string | undefined): string[] =>
  text === undefined || text === ''
    ? [...usualColumns]
    : text
        .split(',')
        .filter(name => fields.some(field => field === name) || metricOf(name) !== null)

/** The text of columns in an address; null for the usual ones. */
export const textOfColumns = (columns: readonly string[]): string | undefined =>
  columns.join() === usualColumns.join() ? undefined : columns.join(',')

/** The next order after a click on a head: down, up, and down again. */
export const nextSort = (column: string, now: string): string =>
  now === `-${column}` ? column : `-${column}`

export const valueOfMetric = (run: RunRow, { key, of }: MetricColumn): number | string | null =>
  run.summary[key]?.[of] ?? null

/** The metric keys of some runs, in order. */
export const keysOf = (runs: readonly (RunRow | undefined)[]): string[] =>
  [...new Set(runs.flatMap(run => Object.keys(run?.summary ?? {})))].sort()
