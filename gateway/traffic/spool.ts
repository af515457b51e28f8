import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { TrafficRow } from '../../schemas/traffic.ts'
import { folderOf, isLeft, type Owner, thisOwner } from './spool-owner.ts'

/** A request that cannot be recorded must get no response. */
export class SpoolFull extends Error {
  constructor(why: string, options?: ErrorOptions) {
    super(`The record of traffic takes no more: ${why}`, options)
    this.name = 'SpoolFull'
  }
}

export type SpoolOptions = {
  /** Shared by processes; each has its own folder in it. */
  folder: string
  /** Maximum size of the folders of this process. */
  maxBytes?: number
  segmentBytes?: number
}

/** A file of rows, complete: nothing is added any more. */
export type Segment = { path: string; bytes: number }

type Current = { fd: number; path: string; bytes: number }

const mebibyte = 1024 * 1024
/** Room for requests under way once no new ones are admitted: 4,096 rows of the longest kind. */
const reservedBytes = 16 * mebibyte
/** How long no request is admitted after the disk refused a write, in milliseconds. */
const afterRefusalMs = 1_000

/**
 * The rows of answered requests, on disk until the log has them, or the database for captured ones. A row is one write to a file that is open: it survives any end
 * of the process, but not of the machine, because nothing waits for the disk.
 */
export class TrafficSpool<Row extends object = TrafficRow> {
  readonly #root: string
  readonly #me: Owner
  readonly #maxBytes: number
  readonly #segmentBytes: number
  readonly #finished: Segment[] = []
  #current: Current | null = null
  #bytes = 0
  #made = 0
  #folders = 0
  #refusedAt: number | null = null
  #isClosed = false

  constructor({ folder, maxBytes = 256 * mebibyte, segmentBytes = 4 * mebibyte }: SpoolOptions) {
    this.#root = folder
    this.#me = thisOwner()
    this.#maxBytes = maxBytes
    this.#segmentBytes = segmentBytes
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    mkdirSync(this.#own, { mode: 0o700, recursive: true })
    this.#folders = 1
    this.adopt(Date.now())
  }

  get #own(): string {
    return join(this.#root, folderOf(this.#me, 0))
  }

  /** On disk and not yet on the log. */
  get bytes(): number {
    return this.#bytes
  }

  /** Whether another request can be admitted: room is left for it and for all that are under way. */
  hasRoom(): boolean {
    if (this.#isClosed) return false
    if (this.#refusedAt !== null && performance.now() - this.#refusedAt < afterRefusalMs)
      return false
    return this.#bytes + Math.min(reservedBytes, this.#maxBytes / 4) < this.#maxBytes
  }

  /** Returns once the row would survive the end of this process. Throws `SpoolFull`. */
  record(row: Row): void {
    const bytes = frameOf(row)
    if (this.#isClosed) throw new SpoolFull('the process is stopping')
    if (this.#bytes + bytes.length > this.#maxBytes)
      throw new SpoolFull('too much waits for the log')
    try {
      this.#append(bytes)
      this.#refusedAt = null
    } catch (cause) {
      this.#refusedAt = performance.now()
      throw new SpoolFull((cause as Error).message, { cause })
    }
    if (this.#current && this.#current.bytes >= this.#segmentBytes) this.finish()
  }

  #append(bytes: Buffer): void {
    this.#current ??= this.#open()
    const { fd, bytes: before } = this.#current
    let written = 0
    try {
      while (written < bytes.length) {
        const more = writeSync(fd, bytes, written, bytes.length - written, before + written)
        if (more === 0) throw new Error('the disk refused the write')
        written += more
      }
    } catch (error) {
      // A partial row does not count, and the next one overwrites it.
      if (written > 0) ftruncateSync(fd, before)
      throw error
    }
    this.#current.bytes += bytes.length
    this.#bytes += bytes.length
  }

  #open(): Current {
    mkdirSync(this.#own, { recursive: true, mode: 0o700 })
    // If an earlier process had the same identity, its files are not found here: they were adopted at the start.
    const name = `${String(++this.#made).padStart(9, '0')}.rows`
    const path = join(this.#own, name)
    return { fd: openSync(path, 'wx', 0o600), path, bytes: 0 }
  }

  /** Ends the current segment, so that it can be shipped. */
  finish(): void {
    const { fd, path, bytes } = this.#current ?? { fd: -1, path: '', bytes: 0 }
    if (fd === -1) return
    this.#current = null
    closeSync(fd)
    if (bytes > 0) this.#finished.push({ path, bytes })
    else unlinkSync(path)
  }

  /** The waiting rows, oldest first. */
  segments(): readonly Segment[] {
    return [...this.#finished]
  }

  /** The log has its rows. */
  remove(segment: Segment): void {
    const at = this.#finished.findIndex(({ path }) => path === segment.path)
    if (at === -1) return
    // It may have been removed by hand.
    rmSync(segment.path, { force: true })
    this.#finished.splice(at, 1)
    this.#bytes -= segment.bytes
  }

  /** Signals that this process lives, and takes over folders of ended processes. If two try, one succeeds. */
  adopt(nowMs: number): void {
    const own = new Set(Array.from({ length: this.#folders }, (_, n) => folderOf(this.#me, n)))
    for (const name of readdirSync(this.#root)) {
      const path = join(this.#root, name)
      try {
        if (own.has(name)) utimesSync(path, nowMs / 1000, nowMs / 1000)
        else if (isLeft(this.#me, name, path, nowMs)) this.#take(path)
      } catch (error) {
        // Another process was faster.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      }
    }
  }

  #take(path: string): void {
    const files = readdirSync(path).sort()
    if (files.length === 0) {
      rmdirSync(path)
      return
    }
    const mine = join(this.#root, folderOf(this.#me, this.#folders))
    renameSync(path, mine)
    this.#folders++
    for (const file of files) {
      const segment = { path: join(mine, file), bytes: statSync(join(mine, file)).size }
      this.#finished.push(segment)
      this.#bytes += segment.bytes
    }
  }

  /** Accepts no more rows; unshipped rows stay for the next process. */
  close(): void {
    this.#isClosed = true
    this.finish()
    for (let nth = 0; nth < this.#folders; nth++)
      try {
        rmdirSync(join(this.#root, folderOf(this.#me, nth)))
      } catch {
        // Something is left in it.
      }
  }
}

/** Length and CRC-32 of what follows. */
const headBytes = 8
/** Longer than any row, so that a damaged length is seen. */
const maxRowBytes = 1024 * 1024

function frameOf(row: object): Buffer {
  const json = Buffer.from(
    JSON.stringify(row, (_, value) => (typeof value === 'string' ? storable(value) : value)),
  )
  const bytes = Buffer.allocUnsafe(headBytes + json.length)
  bytes.writeUInt32LE(json.length, 0)
  bytes.writeUInt32LE(crc32(json), 4)
  json.copy(bytes, headBytes)
  return bytes
}

/** PostgreSQL has neither NUL nor half of a pair in a text; a caller may name a model so. */
const storable = (text: string): string => text.replaceAll('\0', '').toWellFormed()

/**
 * The rows of a segment. A torn end was never answered, since its write did not return. A row whose bytes have changed is
 * passed over and counted as `damaged`.
 */
export function rowsIn<Row = TrafficRow>(path: string): { rows: Row[]; damaged: number } {
  const bytes = readFileSync(path)
  const rows: Row[] = []
  let damaged = 0
  for (let at: number | null = 0; at !== null && at + headBytes <= bytes.length; ) {
    const end = endOf(bytes, at)
    const isGood = end !== null && isWhole(bytes, at, end)
    if (isGood) rows.push(JSON.parse(bytes.subarray(at + headBytes, end).toString()))
    // The last row may be torn; if another one follows, or no row is so long, its length was damaged.
    const next: number | null = end ?? nextRow(bytes, at + 1)
    if (!isGood && (next !== null || bytes.readUInt32LE(at) > maxRowBytes)) damaged++
    at = next
  }
  return { rows, damaged }
}

/** Where the row that begins here ends; null if its length cannot be right. */
function endOf(bytes: Buffer, at: number): number | null {
  const length = bytes.readUInt32LE(at)
  const end = at + headBytes + length
  return length > maxRowBytes || end > bytes.length ? null : end
}

const isWhole = (bytes: Buffer, at: number, end: number): boolean =>
  crc32(bytes.subarray(at + headBytes, end)) === bytes.readUInt32LE(at + 4)

/** Where the next row begins whose length and sum agree; null: nowhere. */
function nextRow(bytes: Buffer, from: number): number | null {
  for (let at = from; at + headBytes < bytes.length; at++) {
    const end = endOf(bytes, at)
    if (end !== null && end > at + headBytes && isWhole(bytes, at, end)) return at
  }
  return null
}
