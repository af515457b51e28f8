export type Column<Row> = [title: string, cell: (row: Row) => string]

/** Rows under their titles, numbers right-aligned, readable on a terminal and as Markdown. */
export function toTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const titles = columns.map(([title]) => title)
  const cells = rows.map(row => columns.map(([, cell]) => cell(row)))
  const widths = titles.map((title, index) =>
    Math.max(title.length, ...cells.map(row => (row[index] ?? '').length)),
  )
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, index) => cell.padStart(widths[index] ?? 0)).join(' | ')} |`
  const rule = `|${widths.map(width => `${'-'.repeat(width + 1)}:`).join('|')}|`
  return [line(titles), rule, ...cells.map(line)].join('\n')
}

/** 1234567 → `1,234,567`; at most `digits` after the point. */
export const number = (value: number, digits = 0): string =>
  Number.isFinite(value)
    ? value.toLocaleString('en-US', {
        maximumFractionDigits: digits,
        minimumFractionDigits: digits,
      })
    : '–'
