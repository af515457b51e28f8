import { randomUUID } from 'node:crypto'
import { chmod, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { hasCode } from '../platform/files/content.ts'
import { recipeDigest } from './digest.ts'
import { type FolderArchive, sharedModes, unpackFolder } from './unpack-folder.ts'

const recipeArchive: FolderArchive = {
  ...{ noun: 'recipe', manifest: 'recipe.yaml', modes: sharedModes },
  limitBytes: 256 * 1024 * 1024,
}
const debrisMs = 3_600_000

/**
 * The files of uploaded recipes on this machine, in folders named by their digests. The archives are in the database; this
 * folder can be deleted while no run uses it.
 */
export class UploadedFiles {
  readonly #folder: string
  #last: Promise<unknown> = Promise.resolve()

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Runs may have other users, and read these files. */
  async open(now: Date): Promise<void> {
    await mkdir(this.#folder, { recursive: true })
    await chmod(this.#folder, 0o755)
    for (const name of await readdir(this.#folder)) {
      if (!name.startsWith('.')) continue
      const file = path.join(this.#folder, name)
      const found = await stat(file).catch(() => null)
      if (found && now.getTime() - found.mtimeMs > debrisMs)
        await rm(file, { recursive: true, force: true })
    }
  }

  directoryOf(digest: string): string {
    return path.join(this.#folder, digest.replace(':', '-'))
  }

  /** Unpacks an archive while `work` runs, which gets the folder with the manifest: by default that of a recipe. */
  unpacked<T>(
    archive: string,
    work: (directory: string) => Promise<T>,
    kind: FolderArchive = recipeArchive,
  ): Promise<T> {
    const unpack = () => this.#unpacked(archive, work, kind)
    if (kind === recipeArchive) return unpack()
    // Several at once could fill the disk.
    const next = this.#last.catch(() => {}).then(unpack)
    this.#last = next
    return next
  }

  async #unpacked<T>(
    archive: string,
    work: (directory: string) => Promise<T>,
    kind: FolderArchive,
  ): Promise<T> {
    const fresh = this.#fresh()
    // Runs may list the folder above it, and an environment may be private.
    await mkdir(fresh, { mode: 0o700 })
    try {
      return await work(await unpackFolder(archive, fresh, kind))
    } finally {
      await rm(fresh, { recursive: true, force: true })
    }
  }

  /** Puts the files of a recipe in place, unless they are already there. */
  async provide(digest: string, archive: () => Promise<Buffer>): Promise<string> {
    const place = this.directoryOf(digest)
    if ((await digestAt(place)) === digest) return place
    const file = this.#fresh()
    try {
      await writeFile(file, await archive(), { mode: 0o600 })
      await this.unpacked(file, async directory => {
        if ((await digestAt(directory)) !== digest)
          throw new Error(`the stored archive of recipe ${digest} contains different files`)
        await this.#put(directory, place, digest)
      })
    } finally {
      await rm(file, { force: true })
    }
    return place
  }

  async #put(directory: string, place: string, digest: string): Promise<void> {
    await chmod(directory, 0o755)
    // Other processes may be putting the same files there, and a crash may have left parts of them.
    for (let triesLeft = 10; ; triesLeft--) {
      try {
        await rename(directory, place)
        return
      } catch (error) {
        if (!hasCode(error, 'ENOTEMPTY', 'EEXIST') || triesLeft === 0) throw error
      }
      if ((await digestAt(place)) === digest) return
      const old = this.#fresh()
      await rename(place, old).catch(error => {
        if (!hasCode(error, 'ENOENT')) throw error
      })
      await rm(old, { recursive: true, force: true })
    }
  }

  #fresh(): string {
    return path.join(this.#folder, `.${randomUUID()}`)
  }
}

/** Null where there are no such files. */
const digestAt = (directory: string): Promise<string | null> =>
  recipeDigest(directory).catch(() => null)
