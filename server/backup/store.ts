import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { createDurably, readJson } from '../../executor/attempts/durable-json.ts'
import { type Identity, identify, isAlive } from '../../executor/attempts/process-identity.ts'
import { hasCode, syncFolder } from '../../platform/files/content.ts'
import {
  type FileEntry,
  type Manifest,
  partsOf,
  readManifest,
  timeOf,
  writeManifest,
} from './manifest.ts'
import { BackupRefused, BackupUnderWay, BadBackup } from './refused.ts'

/**
 * Every file is stored in parts of this size (the last one smaller), so that a change in a large file of the database
 * costs a part and not the file. Also the memory that copying one file takes.
 */
export const partBytes = 4 * 1024 * 1024
/** Digesting more than this at once would hold up a server that makes a backup of itself. */
const digestBytes = 256 * 1024

export type Bytes = Buffer<ArrayBuffer>

/**
 * A folder of backups: `parts/<2 digits>/<sha256>` holds the contents of all of them, each once, and
 * `backups/<id>.json` the manifest of one, which is written last: without a manifest there is no backup. Parts are on
 * disk before a manifest names them, and are never changed.
 */
export class BackupStore {
  readonly folder: string
  readonly #parts: string
  readonly #manifests: string
  readonly #writing = new Map<string, Promise<void>>()
  readonly #changed = new Set<string>()
  /** Bytes that this object added. */
  addedBytes = 0

  constructor(folder: string) {
    this.folder = folder
    this.#parts = join(folder, 'parts')
    this.#manifests = join(folder, 'backups')
  }

  /** Ids of the complete backups, oldest first. */
  async ids(): Promise<string[]> {
    const names = await readdir(this.#manifests).catch(error => {
      if (hasCode(error, 'ENOENT')) return []
      throw error
    })
    return names
      .filter(name => name.endsWith('.json'))
      .map(name => name.slice(0, -'.json'.length))
      .filter(id => timeOf(id) !== null)
      .sort()
  }

  manifestFile(id: string): string {
    return join(this.#manifests, `${id}.json`)
  }

  /** Throws `BadBackup` if it is damaged. */
  manifest(id: string): Promise<Manifest> {
    return readManifest(this.manifestFile(id))
  }

  /** Takes the folder for this process while `work` runs: two writers could delete each other's parts. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    for (const folder of [this.folder, this.#parts, this.#manifests])
      await mkdir(folder, { recursive: true, mode: 0o700 })
    const lock = join(this.folder, 'in-use.json')
    for (let tries = 2; !(await createDurably(lock, identify(process.pid))); tries--) {
      const owner = await readJson<Identity>(lock)
      if (owner && (tries === 0 || isAlive(owner)))
        throw new BackupUnderWay(
          `Process ${owner.pid} is making a backup in ${this.folder}; wait for its end. If no such process exists, delete ${lock}.`,
        )
      await rm(lock, { force: true })
    }
    try {
      await this.#removeDebris()
      return await work()
    } finally {
      await rm(lock, { force: true })
    }
  }

  /** Stores a part unless it is there; returns its SHA-256. */
  async put(bytes: Bytes): Promise<string> {
    const sha256 = await digest(bytes)
    await this.#once(sha256, async () => {
      if ((await this.#sizeOf(sha256)) !== bytes.length) await this.#write(sha256, bytes)
    })
    return sha256
  }

  /** Stores a file whose content is in memory. */
  async putWhole(content: Bytes): Promise<Pick<FileEntry, 'size' | 'sha256' | 'parts'>> {
    const parts: string[] = []
    const whole = new WholeDigest()
    for (let at = 0; at < content.length; at += partBytes) {
      const part = content.subarray(at, at + partBytes)
      parts.push(await this.put(part))
      await whole.add(part)
    }
    return {
      size: content.length,
      sha256: whole.hex(),
      ...(parts.length > 1 && { parts }),
    }
  }

  /** Whether all parts of a file are there. */
  async has(parts: readonly string[]): Promise<boolean> {
    for (const part of parts) if ((await this.#sizeOf(part)) === null) return false
    return true
  }

  /** Throws `BadBackup` if the part is missing or has changed. */
  async get(sha256: string): Promise<Bytes> {
    const file = this.#fileOf(sha256)
    const bytes = await readFile(file).catch(error => {
      if (hasCode(error, 'ENOENT')) return null
      throw error
    })
    if (bytes === null) throw new BadBackup([`${file} is missing`])
    if ((await digest(bytes)) !== sha256) throw new BadBackup([`${file} has changed`])
    return bytes
  }

  /** Completes a backup. */
  async add(manifest: Manifest): Promise<void> {
    for (const folder of this.#changed) await syncFolder(folder)
    await syncFolder(this.#parts)
    await writeManifest(this.manifestFile(manifest.id), manifest)
  }

  /**
   * Deletes all but the newest `keep` backups, and the parts that only those had. Throws before it deletes parts if a
   * remaining manifest cannot be read.
   */
  async thin(keep: number): Promise<{ removed: string[] }> {
    const ids = await this.ids()
    const removed = ids.slice(0, Math.max(0, ids.length - keep))
    for (const id of removed) await rm(this.manifestFile(id), { force: true })
    if (removed.length > 0) {
      await syncFolder(this.#manifests)
      await this.#removeUnused()
    }
    return { removed }
  }

  async #removeUnused(): Promise<void> {
    const used = new Set<string>()
    for (const id of await this.ids())
      for (const file of (await this.manifest(id)).files)
        for (const part of partsOf(file)) used.add(part)
    for (const folder of await readdir(this.#parts))
      for (const name of await readdir(join(this.#parts, folder)))
        if (!used.has(name)) await rm(join(this.#parts, folder, name), { force: true })
  }

  /** Removes the unfinished files of interrupted backups. */
  async #removeDebris(): Promise<void> {
    const folders = (await readdir(this.#parts)).map(name => join(this.#parts, name))
    for (const folder of [this.#manifests, ...folders])
      for (const name of await readdir(folder))
        if (name.startsWith('.')) await rm(join(folder, name), { force: true })
  }

  async #write(sha256: string, bytes: Bytes): Promise<void> {
    const folder = join(this.#parts, sha256.slice(0, 2))
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const fresh = join(folder, `.${randomUUID()}`)
    try {
      const handle = await open(fresh, 'wx', 0o600)
      try {
        await handle.writeFile(bytes)
        // Later backups trust every part by its name, even after a power cut.
        await handle.sync()
      } finally {
        await handle.close()
      }
      await rename(fresh, this.#fileOf(sha256))
    } catch (error) {
      await rm(fresh, { force: true })
      if (!hasCode(error, 'ENOSPC', 'EDQUOT')) throw error
      throw new BackupRefused(
        `The disk of ${this.folder} is full. The earlier backups are intact; make room, or keep fewer of them.`,
        error,
      )
    }
    this.#changed.add(folder)
    this.addedBytes += bytes.length
  }

  /** Files with the same content are copied at the same time. */
  async #once(sha256: string, work: () => Promise<void>): Promise<void> {
    const before = this.#writing.get(sha256)
    if (before) return before
    const writing = work().finally(() => this.#writing.delete(sha256))
    this.#writing.set(sha256, writing)
    return writing
  }

  async #sizeOf(sha256: string): Promise<number | null> {
    return await stat(this.#fileOf(sha256)).then(
      found => found.size,
      () => null,
    )
  }

  #fileOf(sha256: string): string {
    return join(this.#parts, sha256.slice(0, 2), sha256)
  }
}

/** The SHA-256 in hex, computed apart from the event loop. */
async function digest(bytes: Bytes): Promise<string> {
  return Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex')
}

/** The SHA-256 of a file that arrives in parts. */
export class WholeDigest {
  readonly #hash = createHash('sha256')

  async add(bytes: Bytes): Promise<void> {
    for (let at = 0; at < bytes.length; at += digestBytes) {
      this.#hash.update(bytes.subarray(at, at + digestBytes))
      await setImmediate()
    }
  }

  hex(): string {
    return this.#hash.digest('hex')
  }
}
