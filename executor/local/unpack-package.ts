import { randomUUID } from 'node:crypto'
import { chmod, chown, lstat, mkdir, open, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import {
  type ArchiveEntry,
  type Contents,
  maxEntries,
  readArchive,
} from '../../platform/files/archive.ts'
import { hasCode, sha256Of } from '../../platform/files/content.ts'
import { isSensitive } from '../../schemas/sensitive-files.ts'
import type { RecipePlan } from './recipe-plan.ts'

/**
 * Puts the files of a package into the empty working folder of an attempt, before its program starts. They are unpacked
 * into a new folder beside it that nobody else may enter, with all checks of the upload once more, given to whoever owns the
 * working folder, and take its place whole.
 */
export async function unpackPackage(
  { file, sha256, limit_bytes }: NonNullable<RecipePlan['package']>,
  work: string,
): Promise<Contents> {
  if ((await digestOf(file)) !== sha256)
    throw new Error(`the package on this machine is not the one that was admitted (${sha256})`)
  const { uid, gid, mode } = await lstat(work)
  const fresh = path.join(path.dirname(work), `package-${randomUUID()}`)
  await mkdir(fresh, { mode: 0o700 })
  try {
    const unpacking = new Unpacking(fresh, process.getuid?.() === 0 ? { uid, gid } : null)
    const limits = { expandedBytes: limit_bytes, entries: maxEntries }
    const contents = await readArchive(file, limits, (entry, content) =>
      unpacking.take(entry, content),
    )
    await unpacking.give(fresh)
    await chmod(fresh, mode & 0o777)
    // Replaces an empty folder only.
    await rename(fresh, work)
    return contents
  } catch (error) {
    await rm(fresh, { recursive: true, force: true })
    throw error
  }
}

async function digestOf(file: string): Promise<string> {
  try {
    return await sha256Of(file)
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
    throw new Error('the package of the job is not on this machine (any more)', { cause: error })
  }
}

class Unpacking {
  readonly #root: string
  readonly #owner: { uid: number; gid: number } | null
  readonly #made = new Set<string>([''])

  constructor(root: string, owner: { uid: number; gid: number } | null) {
    this.#root = root
    this.#owner = owner
  }

  async take({ kind, path: name, isExecutable }: ArchiveEntry, content: AsyncIterable<Buffer>) {
    if (kind === 'folder') return this.#folder(name)
    if (isSensitive(name)) throw new Error(`the package holds ${name}, which no run is given`)
    await this.#folder(name.includes('/') ? path.posix.dirname(name) : '')
    // `wx` follows no link and replaces nothing.
    const handle = await open(path.join(this.#root, name), 'wx', isExecutable ? 0o750 : 0o640)
    try {
      if (this.#owner) await handle.chown(this.#owner.uid, this.#owner.gid)
      for await (const chunk of content) await handle.writeFile(chunk)
    } finally {
      await handle.close()
    }
  }

  async give(folder: string): Promise<void> {
    if (this.#owner) await chown(folder, this.#owner.uid, this.#owner.gid)
  }

  async #folder(name: string): Promise<void> {
    if (this.#made.has(name)) return
    await this.#folder(name.includes('/') ? path.posix.dirname(name) : '')
    const folder = path.join(this.#root, name)
    await mkdir(folder, { mode: 0o750 })
    await this.give(folder)
    this.#made.add(name)
  }
}
