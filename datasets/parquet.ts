import type { Readable } from 'node:stream'
import { type AsyncBuffer, type FileMetaData, parquetMetadata, parquetReadObjects } from 'hyparquet'
import { maxFooterBytes } from './bounds.ts'
import { compressors } from './decompress.ts'
import { checkMetadata, checkPages, extentOf, ParquetFault } from './parquet-bounds.ts'
import { parsers, plainRow } from './parquet-values.ts'
import type { DatasetFile } from './report.ts'

const magic = 'PAR1'

/** Reads the footer of a file. Throws a `ParquetFault` if the file is damaged or not supported. */
export async function readMetadata(file: DatasetFile): Promise<FileMetaData> {
  if (file.size < 12) throw new ParquetFault(notParquet)
  const head = Buffer.from(await bytesOf(file, 0, 4)).toString('latin1')
  const tail = Buffer.from(await bytesOf(file, file.size - 8, file.size))
  const end = tail.toString('latin1', 4)
  if (head === 'PARE' || end === 'PARE')
    throw new ParquetFault('the file is encrypted: save it without encryption')
  if (head !== magic) throw new ParquetFault(notParquet)
  if (end !== magic)
    throw new ParquetFault('the file is cut off: it must end with PAR1; upload it again')
  const length = tail.readUInt32LE(0) + 8
  if (length > Math.min(file.size - 4, maxFooterBytes))
    throw new ParquetFault('the file is damaged: its footer is longer than the file or 64 MB')
  const footer = await bytesOf(file, file.size - length, file.size)
  const metadata = parquetMetadata(footer, { geoparquet: false, parsers })
  checkMetadata(metadata)
  return metadata
}

const notParquet = 'not a Parquet file: it must begin with PAR1'

/** The rows of a row group. Throws a `ParquetFault`, or what hyparquet throws when bytes make no sense. */
export async function readRowGroup(
  file: DatasetFile,
  metadata: FileMetaData,
  at: number,
): Promise<Record<string, unknown>[]> {
  const group = metadata.row_groups[at]
  if (!group || group.num_rows === 0n) return []
  const { start, end } = extentOf(group, file.size)
  const bytes = await bytesOf(file, start, end)
  checkPages(group, bytes, start)
  const buffer: AsyncBuffer = {
    byteLength: file.size,
    slice: (from, to = file.size) => bytes.slice(from - start, to - start),
  }
  // Alone in the metadata, so that no other group is read.
  const only = { ...metadata, row_groups: [group], num_rows: group.num_rows }
  const rows = await parquetReadObjects({
    file: buffer,
    metadata: only,
    compressors,
    parsers,
    utf8: false,
    geoparquet: false,
  })
  if (rows.length !== Number(group.num_rows))
    throw new ParquetFault(
      `the file is damaged: a row group has ${rows.length} rows instead of ${group.num_rows}`,
    )
  return rows.map(plainRow)
}

async function bytesOf(file: DatasetFile, start: number, end: number): Promise<ArrayBuffer> {
  const bytes = new Uint8Array(end - start)
  let at = 0
  const stream: Readable = await file.open({ first: start, last: end - 1 })
  for await (const chunk of stream) {
    if (at + chunk.length > bytes.length) throw new Error(`${file.name}: more bytes than asked for`)
    bytes.set(chunk, at)
    at += chunk.length
  }
  if (at !== bytes.length) throw new Error(`${file.name}: ${at} of ${bytes.length} bytes came`)
  return bytes.buffer
}

/** In words for the owner of the file, whatever a decoder threw. */
export const faultOf = (error: unknown): string =>
  error instanceof ParquetFault
    ? error.message
    : `the file is damaged, or uses an encoding that cannot be read: ${error instanceof Error ? error.message : error}`
