import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { contentFile, hasCode, sha256Of, syncFolder } from '../files/content.ts'
import type { Range } from '../http/range.ts'
import { Refusal } from '../refusal.ts'
import { Arriving, checkDigest, checkId, isDigest } from './arriving.ts'
import type { ObjectStore, Sealed } from './port.ts'

/**
 * Files in one folder: `<id>.part` while they arrive, `sealed-*` while they are registered, and then `sha256/<hex>`,
 * named by their content. All writes are durable before these functions return.
 */
export class DirectoryStore implements ObjectStore {
  readonly folder: string
  readonly #arriving = new Arriving()

  constructor(folder: string) {
    this.folder = folder
  }

  async open(): Promise<void> {
    await mkdir(dirname(contentFile(this.folder, '0')), { recursive: true, mode: 0o700 })
  }

  async received(id: string): Promise<number> {
    return (await stat(this.#part(id)).catch(missing))?.size ?? 0
  }

  async arrived(id: string): Promise<Readable | null> {
    return (await open(this.#part(id), 'r').catch(missing))?.createReadStream() ?? null
  }

  digestOf(id: string): Promise<string> {
    return sha256Of(this.#part(id))
  }

  async receive(id: string, start: number, body: Readable): Promise<number> {
    try {
      return await this.#arriving.take(id, body, () => this.#write(id, start, body))
    } catch (error) {
      if (!isFull(error)) throw error
      await this.removePart(id)
      throw noRoom(error)
    }
  }

  async sizeOf(sha256: string): Promise<number | null> {
    return (await stat(this.fileOf(sha256)).catch(missing))?.size ?? null
  }

  /** Opens the file before it returns, so that a file deleted meanwhile is still read to its end. */
  async read(sha256: string, range: Range | null, signal?: AbortSignal): Promise<Readable | null> {
    const handle = await open(this.fileOf(sha256), 'r').catch(missing)
    if (handle === null) return null
    return handle.createReadStream({
      ...(range && { start: range.first, end: range.last }),
      ...(signal && { signal }),
    })
  }

  /** The path of a kept file, for programs on this machine. */
  fileOf(sha256: string): string {
    return contentFile(this.folder, checkDigest(sha256))
  }

  /** The path of a sealed copy. */
  sealedFile({ name }: Sealed): string {
    return join(this.folder, name)
  }

  async seal(id: string): Promise<Sealed | null> {
    const name = `sealed-${randomUUID()}`
    const file = join(this.folder, name)
    try {
      const copied = await copyTo(file, this.#part(id))
      return { name, ...copied }
    } catch (error) {
      await rm(file, { force: true })
      if (isFull(error)) throw noRoom(error)
      return missing(error)
    }
  }

  async keep(sealed: Sealed): Promise<void> {
    const place = this.fileOf(sealed.sha256)
    await rename(this.sealedFile(sealed), place).catch(async error => {
      // Already renamed by an earlier attempt of a retried transaction.
      if (!hasCode(error, 'ENOENT')) throw error
      await stat(place)
    })
    await syncFolder(dirname(place))
  }

  async discard(sealed: Sealed): Promise<void> {
    await rm(this.sealedFile(sealed), { force: true })
  }

  async removePart(id: string): Promise<void> {
    await rm(this.#part(id), { force: true })
  }

  async removeContent(sha256: string): Promise<void> {
    await rm(this.fileOf(sha256), { force: true })
  }

  async list(): Promise<{ parts: string[]; contents: string[] }> {
    const names = await readdir(this.folder)
    const contents = await readdir(dirname(contentFile(this.folder, '0')))
    return {
      parts: names.filter(name => name.endsWith('.part')).map(name => basename(name, '.part')),
      contents: contents.filter(isDigest),
    }
  }

  async removeDebris(before: Date): Promise<void> {
    for (const name of await readdir(this.folder)) {
      if (!name.startsWith('sealed-')) continue
      const file = join(this.folder, name)
      const found = await stat(file).catch(missing)
      if (found && found.mtime < before) await rm(file, { force: true })
    }
  }

  async #write(id: string, start: number, body: Readable): Promise<number> {
    const file = this.#part(id)
    const handle = await open(file, start === 0 ? 'w' : 'r+', 0o600)
    let at = start
    try {
      await handle.truncate(start)
      for await (const chunk of body) {
        await writeWhole(handle, chunk, at)
        at += chunk.length
      }
      return at
    } finally {
      await handle.sync().finally(() => handle.close())
      await syncFolder(this.folder)
    }
  }

  #part(id: string): string {
    return join(this.folder, `${checkId(id)}.part`)
  }
}

async function writeWhole(handle: FileHandle, chunk: Buffer, at: number): Promise<void> {
  let written = 0
  while (written < chunk.length) {
    const { bytesWritten } = await handle.write(
      chunk,
      written,
      chunk.length - written,
      at + written,
    )
    written += bytesWritten
  }
}

async function copyTo(file: string, from: string): Promise<{ size: number; sha256: string }> {
  const hash = createHash('sha256')
  const handle = await open(file, 'wx', 0o600)
  let size = 0
  try {
    for await (const chunk of createReadStream(from)) {
      hash.update(chunk)
      await writeWhole(handle, chunk, size)
      size += chunk.length
    }
    await handle.sync()
  } finally {
    await handle.close()
  }
  return { size, sha256: hash.digest('hex') }
}

function missing(error: unknown): null {
  if (hasCode(error, 'ENOENT')) return null
  throw error
}

const isFull = (error: unknown) => hasCode(error, 'ENOSPC', 'EDQUOT', 'EFBIG')

const noRoom = (cause: unknown) =>
  new Refusal('unavailable', 'The disk of the server has no room for the file', {
    code: 'uploads.no_room',
    retryAfterSeconds: 60,
    cause,
  })
