import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { contentFile, hasCode, sha256Of, syncFolder } from '../../platform/files/content.ts'
import { Refusal } from '../../platform/refusal.ts'

/** A copy of an upload that no request can write to any more. */
export type Sealed = { file: string; size: number; sha256: string }

type Receiving = { stop: () => void; done: Promise<unknown> }

/**
 * The files of uploads, in one folder: `<upload_id>.part` while they arrive, `sealed-*` while they are registered, and then
 * `sha256/<hex>`, named by their content. What is written is on the disk before these functions return.
 */
export class UploadFiles {
  readonly folder: string
  /** By upload, in this process. */
  readonly #receiving = new Map<string, Receiving>()

  constructor(folder: string) {
    this.folder = folder
  }

  async open(): Promise<void> {
    await mkdir(dirname(contentFile(this.folder, '0')), { recursive: true, mode: 0o700 })
  }

  /** How many bytes of an upload are here. */
  async received(upload_id: string): Promise<number> {
    return (await stat(this.#part(upload_id)).catch(missing))?.size ?? 0
  }

  /** The SHA-256 of what is here, in hex. */
  digestOf(upload_id: string): Promise<string> {
    return sha256Of(this.#part(upload_id))
  }

  /**
   * Writes what a request sends, from this byte on; returns how many are here then. A newer request of the same upload ends
   * an older one, whose connection may have died unnoticed. What arrived before a connection broke stays.
   */
  async receive(upload_id: string, start: number, body: Readable): Promise<number> {
    const before = this.#receiving.get(upload_id)
    before?.stop()
    await before?.done.catch(() => {})
    const done = this.#write(upload_id, start, body)
    const receiving = { stop: () => void body.destroy(), done }
    this.#receiving.set(upload_id, receiving)
    try {
      return await done
    } catch (error) {
      if (isBrokenOff(error)) throw brokenOff(error)
      if (!isFull(error)) throw error
      await this.removePart(upload_id)
      throw noRoom(error)
    } finally {
      if (this.#receiving.get(upload_id) === receiving) this.#receiving.delete(upload_id)
    }
  }

  /** Bytes of the file that was kept under a digest; null if there is none. */
  async sizeOf(sha256: string): Promise<number | null> {
    return (await stat(contentFile(this.folder, sha256)).catch(missing))?.size ?? null
  }

  /** What the file that was kept under a digest really holds; null if there is none. */
  async contentOf(
    sha256: string,
    signal: AbortSignal,
  ): Promise<{ size: number; sha256: string } | null> {
    const hash = createHash('sha256')
    let size = 0
    try {
      for await (const chunk of createReadStream(contentFile(this.folder, sha256), { signal })) {
        hash.update(chunk)
        size += chunk.length
      }
    } catch (error) {
      return missing(error)
    }
    return { size, sha256: hash.digest('hex') }
  }

  /** Copies what arrived, so that no request which is still open can change it. Null if nothing did. */
  async seal(upload_id: string): Promise<Sealed | null> {
    const file = join(this.folder, `sealed-${randomUUID()}`)
    try {
      const copied = await copyTo(file, this.#part(upload_id))
      return { file, ...copied }
    } catch (error) {
      await rm(file, { force: true })
      if (isFull(error)) throw noRoom(error)
      return missing(error)
    }
  }

  /** Gives a sealed copy its lasting name; whoever has the same content already keeps it. */
  async keep({ file, sha256 }: Sealed): Promise<void> {
    const place = contentFile(this.folder, sha256)
    await rename(file, place).catch(async error => {
      // A transaction that is tried again has renamed it.
      if (!hasCode(error, 'ENOENT')) throw error
      await stat(place)
    })
    await syncFolder(dirname(place))
  }

  /** No-op for a copy that was kept. */
  async discard({ file }: Sealed): Promise<void> {
    await rm(file, { force: true })
  }

  async removePart(upload_id: string): Promise<void> {
    await rm(this.#part(upload_id), { force: true })
  }

  async removeContent(sha256: string): Promise<void> {
    await rm(contentFile(this.folder, sha256), { force: true })
  }

  /** Everything in the folder: uploads that are arriving, and content. */
  async list(): Promise<{ parts: string[]; contents: string[] }> {
    const names = await readdir(this.folder)
    const contents = await readdir(dirname(contentFile(this.folder, '0')))
    return {
      parts: names
        .map(name => basename(name, '.part'))
        .filter((id, at) => isId(id) && id !== names[at]),
      contents: contents.filter(name => /^[0-9a-f]{64}$/.test(name)),
    }
  }

  /** Removes copies that a crash left behind. */
  async removeDebris(before: Date): Promise<void> {
    for (const name of await readdir(this.folder)) {
      if (!name.startsWith('sealed-')) continue
      const file = join(this.folder, name)
      const found = await stat(file).catch(missing)
      if (found && found.mtime < before) await rm(file, { force: true })
    }
  }

  async #write(upload_id: string, start: number, body: Readable): Promise<number> {
    const file = this.#part(upload_id)
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

  #part(upload_id: string): string {
    if (!isId(upload_id)) throw new Error(`no upload id: ${upload_id}`)
    return join(this.folder, `${upload_id}.part`)
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

const isId = (text: string) => /^upl_[0-9A-Za-z]{1,60}$/.test(text)

const isFull = (error: unknown) => hasCode(error, 'ENOSPC', 'EDQUOT', 'EFBIG')

/** The client has gone, or a newer request took the place of this one. */
const isBrokenOff = (error: unknown) =>
  hasCode(error, 'ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED')

const brokenOff = (cause: unknown) =>
  new Refusal('invalid', 'The request broke off; ask how much is here, and go on from there', {
    code: 'upload.broken_off',
    cause,
  })

const noRoom = (cause: unknown) =>
  new Refusal('unavailable', 'There is no room for the file on the disk of the server', {
    code: 'uploads.no_room',
    retryAfterSeconds: 60,
    cause,
  })
