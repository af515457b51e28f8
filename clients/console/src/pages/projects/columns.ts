import { fields, hparamOf, isColumn, isSortable, metricOf } from '../runs/columns.ts'
import { joinNames, splitNames } from '../runs/names.ts'
import type { Order } from './sort.ts'

/** Every row has these; in a workspace all runs have the same project. */
const always: readonly string[] = ['name', 'state', 'project']

/** Columns that can be chosen, besides metrics and hyperparameters. */
export const choosable: readonly string[] = fields.filter(name => !always.includes(name))

const isChoosable = (name: string): boolean => isColumn(name) && !always.includes(name)

/** The columns of the address; if it has none, the value by which the runs are sorted, or else the best metric. */
export function columnsOf(text: string | undefined, order: Order | null): string[] {
  if (text !== undefined) return [...new Set(splitNames(text).filter(isChoosable))]
  return [order !== null && isChoosable(order.column) ? order.column : 'best']
}

/** Columns in the format of the address; undefined for the best metric alone. */
export const textOfColumns = (columns: readonly string[]): string | undefined =>
  columns.join() === 'best' ? undefined : joinNames(columns)

/** The metrics and hyperparameters of some columns. */
export const namesOf = (columns: readonly string[]) => ({
  metrics: columns.flatMap(column => metricOf(column)?.key ?? []),
  hparams: columns.flatMap(column => hparamOf(column) ?? []),
})

/** The columns by which runs can be sorted. */
export const sortableOf = (columns: readonly string[]): string[] => columns.filter(isSortable)

/** The title of a column where there is little room. */
export const shortTitle = (title: string): string => title.replace(/^hparams\./, '')

const widths: Readonly<Record<string, number>> = {
  best: 4.75,
  duration_s: 5,
  points: 5,
  log_bytes: 5,
  tags: 8,
  notes: 10,
}
const [narrowest, widest] = [4.75, 9] as const

/** In rem, so that the title and a number of three digits fit. */
export const widthOf = (column: string, title: string): number =>
  widths[column] ?? Math.min(widest, Math.max(narrowest, 1.5 + shortTitle(title).length * 0.45))

/** The width of the name and of the state, in rem. */
export const [nameWidth, stateWidth] = [11.5, 5.75] as const
