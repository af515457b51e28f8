import { rowOfCells } from './cells.ts'
import { readCsv } from './csv.ts'
import { readJsonl } from './jsonl.ts'
import { readMetadata, readRowGroup } from './parquet.ts'
import type { DatasetFile, FileIndex, Row } from './report.ts'

/** `next`: the row to continue from; null at the end of the file. */
export type Rows = { rows: Row[]; next: number | null }

/** Rows of a page together have at most that many characters as JSON, if it is more than one row. */
const pageCharacters = 4_000_000

type Page = { from: number; limit: number }
export type Search = Page & { text: string; scanBytes: number }

/** Rows from this one on: at most `limit`, and fewer if they are long. */
export function readRows(file: DatasetFile, index: FileIndex, page: Page): Promise<Rows> {
  return collect(file, index, { ...page, text: '', scanBytes: Number.POSITIVE_INFINITY })
}

/** Rows that contain this text in any of their values, whatever the case, among the next `scanBytes` of the file. */
export function searchRows(file: DatasetFile, index: FileIndex, search: Search): Promise<Rows> {
  return collect(file, index, { ...search, text: search.text.toLowerCase() })
}

async function collect(file: DatasetFile, index: FileIndex, search: Search): Promise<Rows> {
  const rows: Row[] = []
  let characters = 0
  let next: number | null = null
  let scanned = 0
  /** Whether to read on. `bytes`: how many of the file this row took. */
  const take = (row: number, value: Record<string, unknown> | null, bytes: number): boolean => {
    if (rows.length === search.limit || scanned >= search.scanBytes) {
      next = row
      return false
    }
    scanned += bytes
    if (value === null || !holds(value, search.text)) return true
    characters += JSON.stringify(value).length
    if (rows.length > 0 && characters > pageCharacters) {
      next = row
      return false
    }
    rows.push({ row, value })
    return true
  }
  await readers[index.format](file, index, { from: search.from, take })
  return { rows, next }
}

type Taking = {
  from: number
  take: (row: number, value: Record<string, unknown> | null, bytes: number) => boolean
}

const readers: Record<
  FileIndex['format'],
  (file: DatasetFile, index: FileIndex, taking: Taking) => Promise<void>
> = {
  jsonl: async (file, index, taking) => {
    if (index.format === 'jsonl') await takeLines(file, index, taking)
  },
  csv: async (file, index, taking) => {
    if (index.format === 'csv') await takeRecords(file, index, taking)
  },
  parquet: async (file, index, taking) => {
    if (index.format === 'parquet') await takeGroups(file, index, taking)
  },
}

type Indexed<Format> = Extract<FileIndex, { format: Format }>

/**
 * Opens a file at the last row before the first wanted one whose offset the index has; null if it has none. `pass` skips the rows
 * between them and takes the others; `value` is called for these alone.
 */
async function openBefore(
  file: DatasetFile,
  { every, offsets }: Indexed<'jsonl' | 'csv'>,
  { from, take }: Taking,
) {
  const at = Math.min(Math.floor(from / every), offsets.length - 1)
  const first = offsets[at]
  if (first === undefined) return null
  let row = at * every
  let before = 0
  return {
    stream: await file.open({ first, last: file.size - 1 }),
    pass(offset: number, value: () => Parameters<Taking['take']>[1]): boolean {
      const bytes = offset - before
      before = offset
      return row++ < from || take(row - 1, value(), bytes)
    },
  }
}

async function takeLines(
  file: DatasetFile,
  index: Indexed<'jsonl'>,
  taking: Taking,
): Promise<void> {
  const opened = await openBefore(file, index, taking)
  if (!opened) return
  await readJsonl(opened.stream, {
    onRow: ({ row, offset }) => opened.pass(offset, () => row),
    onBytes: () => undefined,
    signal: null,
  })
}

async function takeRecords(
  file: DatasetFile,
  index: Indexed<'csv'>,
  taking: Taking,
): Promise<void> {
  const opened = await openBefore(file, index, taking)
  if (!opened) return
  await readCsv(opened.stream, {
    delimiter: index.delimiter,
    width: index.columns.length,
    onRecord: ({ cells, offset }) => opened.pass(offset, () => rowOfCells(index.columns, cells)),
    onFault: () => undefined,
    onBytes: () => undefined,
    signal: null,
  })
}

async function takeGroups(
  file: DatasetFile,
  { starts }: Indexed<'parquet'>,
  { from, take }: Taking,
): Promise<void> {
  const metadata = await readMetadata(file)
  const first = Math.max(
    0,
    starts.findLastIndex(start => start <= from),
  )
  for (let at = first; at < starts.length; at++) {
    const group = metadata.row_groups[at]
    const start = starts[at] ?? 0
    const count = Number(group?.num_rows ?? 0)
    const bytes = Number(group?.total_byte_size ?? 0) / Math.max(1, count)
    const rows = await readRowGroup(file, metadata, at)
    for (const [place, value] of rows.entries())
      if (start + place >= from && !take(start + place, value, bytes)) return
  }
}

const holds = (value: unknown, text: string): boolean => {
  if (text === '') return true
  if (typeof value === 'object' && value !== null)
    return Object.values(value).some(inner => holds(inner, text))
  return value !== null && String(value).toLowerCase().includes(text)
}
