import stringWidth from 'string-width'
import type { Terminal } from './terminal.ts'
import { padEnd, padStart, truncate } from './width.ts'

export type Column<Row> = {
  title: string
  cell: (row: Row) => string
  align?: 'left' | 'right'
  /** Shrinks, down to 6 characters, if the table is wider than the terminal. */
  shrinks?: boolean
  /** Omitted if even the shrunk columns do not fit; the last such column goes first. */
  drops?: boolean
  /** Colours the cut and padded text. */
  paint?: (text: string, row: Row) => string
}

export type TableOptions = {
  /** Columns of the terminal; null for pipes and files, where nothing is cut. */
  width: number | null
  paintTitle?: (text: string) => string
}

const gap = '  '
const least = 6

/** Aligned rows under their titles, without rules, so that scripts can cut out cells. */
export function table<Row>(
  all: readonly Column<Row>[],
  rows: readonly Row[],
  { width, paintTitle = text => text }: TableOptions,
): string[] {
  const columns = width === null ? all : affordable(all, rows, width)
  const cells = rows.map(row => columns.map(column => inOneRow(column.cell(row))))
  const natural = columns.map(column => naturalWidth(column, rows))
  const widths = width === null ? natural : fitted(columns, natural, width)
  const line = (texts: readonly string[], paint: (text: string, at: number) => string) =>
    texts
      .map((text, at) => {
        const space = widths[at] ?? 0
        const cut = truncate(text, space)
        const isLast = at === texts.length - 1
        const padded =
          columns[at]?.align === 'right' ? padStart(cut, space) : isLast ? cut : padEnd(cut, space)
        return paint(padded, at)
      })
      .join(gap)
      .trimEnd()
  return [
    line(
      columns.map(column => column.title),
      paintTitle,
    ),
    ...rows.map((row, index) =>
      line(cells[index] ?? [], (text, at) => columns[at]?.paint?.(text, row) ?? text),
    ),
  ]
}

/** Prints a table that fits the terminal. */
export function showTable<Row>(
  terminal: Pick<Terminal, 'columns' | 'data' | 'paint'>,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): void {
  const paintTitle = (text: string) => terminal.paint('dim', text)
  for (const line of table(columns, rows, { width: terminal.columns(), paintTitle }))
    terminal.data(line)
}

const naturalWidth = <Row>(column: Column<Row>, rows: readonly Row[]): number =>
  Math.max(stringWidth(column.title), ...rows.map(row => stringWidth(inOneRow(column.cell(row)))))

const inOneRow = (text: string) => text.replaceAll(/[\t\n]/g, ' ')

/** The columns that fit when all shrinkable ones have shrunk. */
function affordable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width: number,
): readonly Column<Row>[] {
  const needed = columns.map(column => {
    const natural = naturalWidth(column, rows)
    return column.shrinks ? Math.min(natural, least) : natural
  })
  const total = needed.reduce((sum, each) => sum + each + gap.length, -gap.length)
  const last = columns.findLastIndex(column => column.drops)
  return total <= width || last === -1
    ? columns
    : affordable(columns.toSpliced(last, 1), rows, width)
}

/** Shrinks columns until the table fits, the widest first. */
function fitted<Row>(
  columns: readonly Column<Row>[],
  natural: readonly number[],
  width: number,
): number[] {
  const widths = [...natural]
  let excess = widths.reduce((sum, w) => sum + w, 0) + gap.length * (widths.length - 1) - width
  while (excess > 0) {
    const widest = columns
      .map((column, at) => ({ at, size: column.shrinks ? (widths[at] ?? 0) : 0 }))
      .reduce((a, b) => (b.size > a.size ? b : a), { at: -1, size: least })
    if (widest.at === -1) break
    widths[widest.at] = widest.size - 1
    excess -= 1
  }
  return widths
}
