import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { Parser, type ReadEntry } from 'tar'
import { Refusal } from '../refusal.ts'
import { ArchiveNames } from './archive-names.ts'

export type ArchiveLimits = {
  /** Bytes of the whole archive after decompression, counted as they come out. */
  expandedBytes: number
  /** Files and folders, including folders that are only implied by paths. */
  entries: number
}

/** The most files and folders that any archive may hold. */
export const maxEntries = 20_000

/** `path` is relative, uses `/`, and has no part that leads out of the folder. */
export type ArchiveEntry = {
  kind: 'file' | 'folder'
  path: string
  isExecutable: boolean
  /** Bytes of its content; 0 for a folder. */
  size: number
}

/** Content that it does not read is skipped; folders have none. */
export type Take = (entry: ArchiveEntry, content: AsyncIterable<Buffer>) => Promise<void>

/** Number of files in an archive, and their total size. */
export type Contents = { files: number; bytes: number }

/** A bomb is recognized by its ratio, once enough has been decompressed for the ratio to be meaningful. */
const maxRatio = 200
const ratioCountsFromBytes = 10 * 1024 * 1024
/** Room for a long path and a few other attributes. */
const maxMetaBytes = 64 * 1024

/**
 * Reads a gzip-compressed tar file to its end and passes its entries to `take` one by one. Anything but plain files
 * and folders with harmless, distinct names is refused (400), as is an archive that expands past the limits (413). It
 * is refused as soon as the fault is seen: earlier entries have been passed on by then.
 */
export async function readArchive(
  file: string,
  limits: ArchiveLimits,
  take: Take,
): Promise<Contents> {
  const { size } = await stat(file)
  return readPacked({ source: createReadStream(file), size }, limits, take)
}

/** The same for a file of this size that arrives as a stream, which is destroyed at the end. */
export async function readPacked(
  { source, size }: { source: Readable; size: number },
  limits: ArchiveLimits,
  take: Take,
): Promise<Contents> {
  const gunzip = createGunzip()
  source.once('error', error => gunzip.destroy(error))
  source.pipe(gunzip)
  const reading = new Reading(limits, take)
  try {
    for await (const chunk of gunzip) {
      reading.count(chunk.length, gunzip.bytesWritten)
      await reading.write(chunk)
    }
    if (gunzip.bytesWritten < size) throw malformed('there is data after its end')
    return await reading.end()
  } catch (error) {
    throw isOfZlib(error) ? malformed('it is not a complete gzip file') : error
  } finally {
    source.destroy()
    gunzip.destroy()
  }
}

class Reading {
  readonly #limits: ArchiveLimits
  readonly #take: Take
  readonly #names: ArchiveNames
  readonly #parser = new Parser({ strict: true, maxMetaEntrySize: maxMetaBytes, zstd: false })
  readonly #ended = new Promise<void>(resolve => this.#parser.once('end', resolve))
  readonly #contents: Contents = { files: 0, bytes: 0 }
  #expanded = 0
  #isPastEnd = false
  #failure: unknown = null
  #taking: Promise<void> = Promise.resolve()

  constructor(limits: ArchiveLimits, take: Take) {
    this.#limits = limits
    this.#take = take
    this.#names = new ArchiveNames(limits.entries)
    this.#parser.on('error', (error: Error) => this.#fail(malformed(error.message)))
    this.#parser.on('eof', () => {
      this.#isPastEnd = true
    })
    this.#parser.on('ignoredEntry', (entry: ReadEntry) => this.#fail(notPlain(entry)))
    this.#parser.on('entry', (entry: ReadEntry) => {
      // The next entry may arrive before the last one has been stored.
      this.#taking = this.#taking
        .then(() => this.#hand(entry))
        .catch(error => {
          this.#fail(error)
          entry.resume()
        })
    })
  }

  count(bytes: number, compressed: number): void {
    this.#expanded += bytes
    const { expandedBytes } = this.#limits
    if (this.#expanded > expandedBytes)
      throw tooLarge(`expands to more than ${expandedBytes} bytes`, { limit_bytes: expandedBytes })
    if (this.#expanded > ratioCountsFromBytes && this.#expanded > compressed * maxRatio)
      throw tooLarge(`expands to more than ${maxRatio} times its size`, { limit_ratio: maxRatio })
  }

  async write(chunk: Buffer): Promise<void> {
    // Data after the end is counted but not parsed, because the parser would buffer it.
    if (this.#isPastEnd) return
    if (this.#expanded === chunk.length && isGzip(chunk))
      throw malformed('it is compressed more than once')
    if (!this.#parser.write(chunk)) await this.#drained()
    this.#throwFailure()
  }

  async end(): Promise<Contents> {
    this.#parser.end()
    await Promise.race([this.#ended, this.#untilFailure.promise])
    await this.#taking
    this.#throwFailure()
    if (!this.#isPastEnd) throw malformed('its end is missing')
    return this.#contents
  }

  readonly #untilFailure = Promise.withResolvers<void>()

  #drained(): Promise<void> {
    return Promise.race([
      new Promise<void>(resolve => this.#parser.once('drain', resolve)),
      this.#untilFailure.promise,
    ])
  }

  async #hand(entry: ReadEntry): Promise<void> {
    const kind = kindOf(entry)
    if (kind === null) throw notPlain(entry)
    if (((entry.mode ?? 0) & 0o7000) !== 0)
      throw unsafe(`${shown(entry.path)} would give a program the rights of another user (setuid)`)
    const path = this.#names.accept(entry.path, kind)
    if (kind === 'file') {
      this.#contents.files += 1
      this.#contents.bytes += entry.size
    }
    const isExecutable = ((entry.mode ?? 0) & 0o100) !== 0
    await this.#take({ kind, path, isExecutable, size: entry.size }, entry)
    entry.resume()
  }

  #fail(error: unknown): void {
    this.#failure ??= error
    this.#untilFailure.resolve()
  }

  #throwFailure(): void {
    if (this.#failure !== null) throw this.#failure
  }
}

function kindOf({ type }: ReadEntry): ArchiveEntry['kind'] | null {
  if (type === 'Directory') return 'folder'
  return type === 'File' || type === 'OldFile' || type === 'ContiguousFile' ? 'file' : null
}

const isGzip = (chunk: Buffer) => chunk[0] === 0x1f && chunk[1] === 0x8b

const isOfZlib = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^(Z_|ERR_ZLIB)/.test(String(error.code))

const shown = (path: string) => JSON.stringify(path.slice(0, 200))

const notPlain = ({ path, type }: ReadEntry) =>
  unsafe(`${shown(path)} is neither a file nor a folder (${type})`)

const unsafe = (fault: string) =>
  new Refusal('invalid', `The archive is refused: ${fault}`, { code: 'archive.unsafe' })

const malformed = (fault: string) =>
  new Refusal('invalid', `The archive cannot be read as .tar.gz: ${fault.slice(0, 300)}`, {
    code: 'archive.malformed',
  })

const tooLarge = (fault: string, data: Record<string, unknown>) =>
  new Refusal('too_large', `The archive ${fault}`, { code: 'archive.too_large', data })
