import type { ColumnMetaData, FileMetaData, RowGroup, SchemaElement } from 'hyparquet'
import { parquetHeader } from 'hyparquet/src/column.js'
import { maxColumnValues, maxDepth, maxFields, maxRowGroupBytes } from './bounds.ts'
import { codecs } from './decompress.ts'

/** A fault of a Parquet file, in words for its owner. */
export class ParquetFault extends Error {}

/** Checks what a file says about itself, before memory is taken for it. */
export function checkMetadata({ schema, row_groups: groups, num_rows: rows }: FileMetaData): void {
  const [root] = schema
  if (!root?.num_children) throw new ParquetFault('the file has no columns')
  if (root.num_children > maxFields || schema.length > maxFields * 10)
    throw new ParquetFault(
      `a file has at most ${maxFields} columns; this one has ${root.num_children}`,
    )
  if (depthOf(schema) > maxDepth)
    throw new ParquetFault(`columns are nested more than ${maxDepth} deep`)
  const sum = groups.reduce((total, group) => total + group.num_rows, 0n)
  if (sum !== rows || groups.some(group => group.num_rows < 0n))
    throw new ParquetFault(`the file is damaged: it says ${rows} rows, its row groups have ${sum}`)
}

function depthOf(schema: readonly SchemaElement[]): number {
  const left: number[] = []
  let deepest = 0
  for (const { num_children: children } of schema) {
    deepest = Math.max(deepest, left.length)
    while (left.length > 0 && left.at(-1) === 0) left.pop()
    const last = left.length - 1
    if (last >= 0) left[last] = (left[last] ?? 0) - 1
    if (children) left.push(children)
  }
  return deepest
}

/** The bytes of a row group in its file. */
export function extentOf(group: RowGroup, fileBytes: number): { start: number; end: number } {
  if (group.total_byte_size > maxRowGroupBytes)
    throw new ParquetFault(
      `a row group has at most ${megabytes(maxRowGroupBytes)}, but this one has ${megabytes(group.total_byte_size)} decompressed: write the file with smaller ones (row_group_size in pyarrow)`,
    )
  const chunks = group.columns.map(chunkOf)
  const start = Math.min(...chunks.map(chunk => chunk.start))
  const end = Math.max(...chunks.map(chunk => chunk.end))
  const isInside = chunks.every(chunk => chunk.start >= 4 && chunk.end >= chunk.start)
  if (!isInside || end > fileBytes)
    throw new ParquetFault('the file is damaged or cut off: a row group lies outside it')
  if (end - start > maxRowGroupBytes * 2)
    throw new ParquetFault('the file is damaged: a row group is scattered over the file')
  return { start, end }
}

const megabytes = (bytes: number | bigint) => `${Math.ceil(Number(bytes) / 1024 / 1024)} MB`

type Chunk = { start: number; end: number; column: ColumnMetaData }

function chunkOf({ meta_data: column }: RowGroup['columns'][number]): Chunk {
  if (!column) throw new ParquetFault('the file is encrypted: save it without encryption')
  if (!codecs.includes(column.codec))
    throw new ParquetFault(
      `compressed by ${column.codec}: save the file with one of ${codecs.join(', ')}`,
    )
  const start = Number(column.dictionary_page_offset || column.data_page_offset)
  return { start, end: start + Number(column.total_compressed_size), column }
}

/** Checks the headers of all pages of a row group, whose bytes begin at `start` in the file. */
export function checkPages(group: RowGroup, bytes: ArrayBuffer, start: number): void {
  let total = 0
  for (const chunk of group.columns.map(chunkOf)) {
    total += checkColumn(
      new DataView(bytes, chunk.start - start, chunk.end - chunk.start),
      chunk.column,
    )
    if (total > maxRowGroupBytes * 2)
      throw new ParquetFault('the file is damaged: its pages are larger than it says')
  }
}

/** Returns how many bytes the pages of a column have once they are decompressed. */
function checkColumn(
  view: DataView,
  { num_values: values, path_in_schema: path }: ColumnMetaData,
): number {
  const damaged = new ParquetFault(
    `the file is damaged: a page of ${path.join('.')} cannot be right`,
  )
  if (values > maxColumnValues)
    throw new ParquetFault(
      `a row group has at most ${maxColumnValues} values in a column, but ${path.join('.')} has ${values}: write the file with smaller ones (row_group_size in pyarrow)`,
    )
  const reader = { view, offset: 0 }
  let left = Number(values)
  let total = 0
  while (reader.offset < view.byteLength - 1) {
    const header = parquetHeader(reader)
    const { compressed_page_size: compressed, uncompressed_page_size: size } = header
    const count = valuesIn(header)
    if (!(compressed >= 0 && size >= 0 && count >= 0)) throw damaged
    if (header.type !== 'DICTIONARY_PAGE') left -= count
    total += size
    reader.offset += compressed
    const isTooLarge = size > maxRowGroupBytes || count > maxColumnValues || left < 0
    if (isTooLarge || reader.offset > view.byteLength) throw damaged
  }
  return total
}

function valuesIn(header: ReturnType<typeof parquetHeader>): number {
  const { data_page_header: one, data_page_header_v2: two, dictionary_page_header: three } = header
  return (one ?? two ?? three)?.num_values ?? 0
}
