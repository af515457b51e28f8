import { maxDepth, maxFields } from './bounds.ts'
import { isRecord } from './json-line.ts'
import { scanJson } from './json-scan.ts'

/** Describes a fault in the names of columns, or returns null. */
export function headerFault(columns: readonly string[], delimiter: string): string | null {
  if (columns.length > maxFields)
    return `a table has at most ${maxFields} columns; this one has ${columns.length}`
  const only = columns.length === 1 ? (columns[0] ?? '') : ''
  const other = [';', '\t', '|', ','].find(mark => mark !== delimiter && only.includes(mark))
  if (other)
    return `columns are separated by ${nameOfMark(delimiter)}, but this header has ${nameOfMark(other)}: ${other === '\t' ? 'name the file .tsv' : 'save the file with commas'}`
  const unnamed = columns.findIndex(column => column.trim() === '')
  if (unnamed !== -1) return `column ${unnamed + 1} has no name: the first line names all columns`
  const repeated = columns.find((column, at) => columns.indexOf(column) !== at)
  return repeated === undefined ? null : `two columns are named ${repeated}: rename one`
}

const nameOfMark = (mark: string) =>
  ({ ',': 'commas', ';': 'semicolons', '\t': 'tabs', '|': 'bars' })[mark] ?? mark

/** Fields that may hold a list, as JSON. */
const structured = ['messages', 'chosen', 'rejected', 'prompt', 'tools']

/** A row of a table. Cells that are the JSON of a list where a kind has one become that list. */
export function rowOfCells(
  columns: readonly string[],
  cells: readonly string[],
): Record<string, unknown> {
  const row: Record<string, unknown> = {}
  for (const [at, column] of columns.entries()) {
    const cell = cells[at] ?? ''
    // Not by assignment: a column may be named `__proto__`.
    Object.defineProperty(row, column, {
      value: structured.includes(column) ? listIn(cell) : cell,
      enumerable: true,
      writable: true,
      configurable: true,
    })
  }
  return row
}

function listIn(cell: string): unknown {
  if (!cell.trimStart().startsWith('[')) return cell
  if (scanJson(Buffer.from(cell)).depth > maxDepth) return cell
  try {
    const value = JSON.parse(cell)
    return Array.isArray(value) && value.every(isRecord) ? value : cell
  } catch {
    return cell
  }
}
