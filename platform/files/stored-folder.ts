import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { crc32 } from 'node:zlib'
import type { Range } from '../http/range.ts'

/**
 * A folder in one `.tar.gz` whose files can be read one by one. It is stored rather than compressed, in blocks of one size, so that the
 * place of a byte in the archive follows from its place in the file; pax records at the start list the files. Any program that reads
 * `.tar.gz` can unpack it.
 */
export type FolderFile = { path: string; size: number; sha256: string }

/** What `unpackedFile` needs to find a file; `offset` is within the tar. */
export type PlacedFile = FolderFile & { offset: number }

export const maxFolderFiles = 1000
/** As the index has to be read whole. */
const maxPathBytes = 400

export const isFolderPath = (path: string): boolean =>
  Buffer.byteLength(path) <= maxPathBytes &&
  !/[\p{Cc}\\]/u.test(path) &&
  path.isWellFormed() &&
  path.split('/').every(part => part !== '' && part !== '.' && part !== '..')

const block = 65_535
const blockHeader = 5
const gzipHeader = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff])
const record = 512
/** Readers of archives bound how much one header holds. */
const indexBytes = 48 * 1024
const indexKey = 'FOLDER.file'

const padded = (size: number) => Math.ceil(size / record) * record

type Layout = { head: Buffer; files: (PlacedFile & { header: Buffer })[]; tarBytes: number }

/** In this order; the same files make the same bytes. */
function layoutOf(files: readonly FolderFile[]): Layout {
  const head = indexOf(files)
  let at = head.length
  const placed = files.map(file => {
    const header = headerOf(file)
    const offset = at + header.length
    at = offset + padded(file.size)
    return { ...file, header, offset }
  })
  return { head, files: placed, tarBytes: at + 2 * record }
}

/** The size of the archive of these files. */
export function packedSize(files: readonly FolderFile[]): number {
  const { tarBytes } = layoutOf(files)
  return gzipHeader.length + Math.ceil(tarBytes / block) * blockHeader + tarBytes + 8
}

/** Opens the content of a file; it is checked against the digest. */
export type OpenFile = (file: FolderFile) => Promise<Readable>

/** The archive; it ends with an error if a file has other content than the list says. */
export const packFolder = (files: readonly FolderFile[], open: OpenFile): Readable =>
  Readable.from(inBlocks(tarOf(layoutOf(files), open), layoutOf(files).tarBytes), {
    objectMode: false,
  })

async function* tarOf({ head, files }: Layout, open: OpenFile): AsyncGenerator<Buffer> {
  yield head
  for (const file of files) {
    yield file.header
    yield* checked(file, await open(file))
    yield Buffer.alloc(padded(file.size) - file.size)
  }
  yield Buffer.alloc(2 * record)
}

async function* checked({ path, size, sha256 }: FolderFile, content: Readable) {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of content as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > size) break
    hash.update(chunk)
    yield chunk
  }
  if (bytes !== size || hash.digest('hex') !== sha256)
    throw new Error(`${path} does not have the listed content`)
}

async function* inBlocks(tar: AsyncIterable<Buffer>, tarBytes: number): AsyncGenerator<Buffer> {
  yield gzipHeader
  let crc = 0
  let held: Buffer[] = []
  let size = 0
  let rest = tarBytes
  const take = (bytes: number) => {
    const all = Buffer.concat(held)
    held = [all.subarray(bytes)]
    size -= bytes
    rest -= bytes
    return Buffer.concat([headerOfBlock(bytes, rest === 0), all.subarray(0, bytes)])
  }
  for await (const chunk of tar) {
    crc = crc32(chunk, crc)
    held.push(chunk)
    size += chunk.length
    while (size >= block) yield take(block)
  }
  if (size > 0) yield take(size)
  const end = Buffer.alloc(8)
  end.writeUInt32LE(crc, 0)
  end.writeUInt32LE(tarBytes % 2 ** 32, 4)
  yield end
}

function headerOfBlock(bytes: number, isLast: boolean): Buffer {
  const header = Buffer.alloc(blockHeader)
  header[0] = isLast ? 1 : 0
  header.writeUInt16LE(bytes, 1)
  header.writeUInt16LE(bytes ^ 0xffff, 3)
  return header
}

/** Pax records that hold for the whole archive, in as many headers as readers accept. */
function indexOf(files: readonly FolderFile[]): Buffer {
  const parts: string[] = ['']
  for (const { path, size, sha256 } of files) {
    const line = paxRecord(indexKey, `${sha256} ${size} ${path}`)
    const last = parts.at(-1) ?? ''
    if (Buffer.byteLength(last) + Buffer.byteLength(line) > indexBytes) parts.push(line)
    else parts[parts.length - 1] = last + line
  }
  return Buffer.concat(parts.map(part => paxHeader('g', part)))
}

function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`
  const bytes = Buffer.byteLength(rest)
  let length = bytes + String(bytes).length
  length = bytes + String(length).length
  return length + rest
}

function paxHeader(type: 'g' | 'x', records: string): Buffer {
  const body = Buffer.alloc(padded(Buffer.byteLength(records)))
  body.write(records)
  const header = ustar({ name: 'pax', size: Buffer.byteLength(records), type })
  return Buffer.concat([header, body])
}

function headerOf({ path, size }: FolderFile): Buffer {
  const isShort = Buffer.byteLength(path) <= 100 && size < 8 ** 11
  const header = ustar({ name: isShort ? path : 'file', size: isShort ? size : 0, type: '0' })
  if (isShort) return header
  return Buffer.concat([
    paxHeader('x', paxRecord('path', path) + paxRecord('size', String(size))),
    header,
  ])
}

function ustar({ name, size, type }: { name: string; size: number; type: string }): Buffer {
  const header = Buffer.alloc(record)
  const octal = (value: number, at: number, length: number) =>
    header.write(value.toString(8).padStart(length - 1, '0'), at)
  header.write(name, 0)
  octal(0o644, 100, 8)
  octal(0, 108, 8)
  octal(0, 116, 8)
  octal(size, 124, 12)
  octal(0, 136, 12)
  header.write('        ', 148)
  header.write(type, 156)
  header.write('ustar\0', 257)
  header.write('00', 263)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return header
}

/** Reads bytes of a stored file. */
export type ReadStored = (range: Range) => Promise<Readable | null>
type Archive = { size: number; read: ReadStored }

/** As much as the largest index needs. */
const maxIndexBytes = 2 * 1024 * 1024

/** The files of an archive that `packFolder` made; null for any other file. */
export async function filesInFolder({ size, read }: Archive): Promise<PlacedFile[] | null> {
  const first = await bytesOf(await read({ first: 0, last: Math.min(size, 4096) - 1 }))
  if (!isStoredFolder(first)) return null
  const tar = await tarBytes({ size, read }, { from: 0, bytes: maxIndexBytes })
  if (tar === null) return null
  const files = parseIndex(await bytesOf(tar))
  if (files === null || packedSize(files) !== size) return null
  return layoutOf(files).files.map(({ header, ...file }) => file)
}

/** A stored block at the start, and in it the header of pax records that hold for the whole archive. */
const isStoredFolder = (bytes: Buffer): boolean =>
  bytes.subarray(0, gzipHeader.length).equals(gzipHeader) &&
  (bytes[gzipHeader.length] ?? 9) <= 1 &&
  bytes.toString('latin1', 15 + 156, 15 + 157) === 'g' &&
  bytes.includes(` ${indexKey}=`)

const line = /^([0-9a-f]{64}) (0|[1-9]\d{0,14}) (.+)$/s

function parseIndex(tar: Buffer): FolderFile[] | null {
  const files: FolderFile[] = []
  for (let at = 0; tar[at + 156] === 0x67; ) {
    const size = Number.parseInt(tar.toString('latin1', at + 124, at + 135), 8)
    const end = at + record + size
    if (!(end <= tar.length)) return null
    for (const text of recordsIn(tar.subarray(at + record, end))) {
      const [, sha256 = '', bytes, path = ''] = line.exec(text) ?? []
      if (!isFolderPath(path) || files.length >= maxFolderFiles) return null
      files.push({ path, sha256, size: Number(bytes) })
    }
    at += record + padded(size)
  }
  return files
}

function* recordsIn(body: Buffer): Generator<string> {
  for (let at = 0; at < body.length; ) {
    const length = Number.parseInt(body.toString('latin1', at, at + 10), 10)
    if (!(length > 0)) return
    const text = body.toString('utf8', at, at + length - 1)
    const key = text.indexOf(`${indexKey}=`)
    yield key < 0 ? '' : text.slice(key + indexKey.length + 1)
    at += length
  }
}

/** The content of a file, or a range of it; null if the archive is gone. */
export function unpackedFile(
  archive: Archive,
  { offset, size }: PlacedFile,
  range: Range | null = null,
): Promise<Readable | null> {
  const { first, last } = range ?? { first: 0, last: size - 1 }
  if (last < first) return Promise.resolve(Readable.from([]))
  return tarBytes(archive, { from: offset + first, bytes: last - first + 1 })
}

/** Bytes of the tar, or as many as there are. */
async function tarBytes(
  { size, read }: Archive,
  { from, bytes }: { from: number; bytes: number },
): Promise<Readable | null> {
  const nth = Math.floor(from / block)
  const first = gzipHeader.length + nth * (block + blockHeader)
  const lastNth = Math.floor((from + bytes - 1) / block)
  const last = Math.min(gzipHeader.length + (lastNth + 1) * (block + blockHeader), size - 8) - 1
  const source = await read({ first, last })
  if (source === null) return null
  const wanted = Readable.from(contentOf(source, { skip: from - nth * block, bytes }), {
    objectMode: false,
  })
  wanted.once('close', () => source.destroy())
  return wanted
}

/** Without the headers of its blocks. */
async function* contentOf(
  source: Readable,
  { skip, bytes }: { skip: number; bytes: number },
): AsyncGenerator<Buffer> {
  let at = 0
  let toSkip = skip
  let left = bytes
  for await (const chunk of source as AsyncIterable<Buffer>) {
    for (let here = 0; here < chunk.length && left > 0; ) {
      const inBlock = (at + here) % (block + blockHeader)
      if (inBlock < blockHeader) {
        here += Math.min(blockHeader - inBlock, chunk.length - here)
        continue
      }
      const part = chunk.subarray(here, here + block + blockHeader - inBlock)
      here += part.length
      const skipped = Math.min(toSkip, part.length)
      toSkip -= skipped
      const taken = part.subarray(skipped, skipped + left)
      left -= taken.length
      if (taken.length > 0) yield taken
    }
    at += chunk.length
    if (left === 0) return
  }
}

async function bytesOf(source: Readable | null): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of source ?? []) chunks.push(chunk)
  return Buffer.concat(chunks)
}
