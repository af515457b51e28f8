import { type EntryRow, entryRow } from '../../schemas/billing.ts'
import { csvLine } from '../../schemas/csv.ts'
import { type Cell, type Columns, focus } from './focus.ts'

export type ExportFormat = 'csv' | 'focus'

/** The lines of a file, page by page. */
export async function* exportEntries(
  pages: AsyncIterable<EntryRow[]>,
  format: ExportFormat,
  month: string,
): AsyncGenerator<string> {
  const columns = format === 'csv' ? own : focus(month)
  yield `${csvLine(Object.keys(columns))}\n`
  const cells = Object.values(columns)
  for await (const rows of pages)
    yield rows.map(row => `${cells.map(cell => cellOf(cell(row))).join(',')}\n`).join('')
}

/** A number has no formula to defuse, although it may begin with a minus. */
const cellOf = (cell: Cell): string =>
  cell === null ? '' : typeof cell === 'string' ? csvLine([cell]) : cell.exactly

const numbers = ['quantity', 'price', 'cost']

/** The fields of `GET /api/billing/entries`. */
const own: Columns = Object.fromEntries(
  (Object.keys(entryRow.properties) as (keyof EntryRow)[]).map(name => [
    name,
    row => {
      const value = row[name]
      if (value === null) return null
      return numbers.includes(name) ? { exactly: String(value) } : String(value)
    },
  ]),
)
