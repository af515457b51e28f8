import { mkdir, open } from 'node:fs/promises'
import path from 'node:path'
import {
  type ArchiveEntry,
  type ArchiveLimits,
  type Contents,
  maxEntries,
  readArchive,
} from './archive.ts'

export type UnpackOptions = {
  /** Limits on what the archive may expand to. */
  limitBytes: number
  /** Modes of files, executables and folders, regardless of the umask. */
  modes: { file: number; program: number; folder: number }
  /** The owner of the written files; null: this process's user. */
  owner: { uid: number; gid: number } | null
  /** Whether to write an entry; throws to refuse the archive. */
  takes: (entry: ArchiveEntry) => boolean
}

/** Writes the files of an archive below an empty folder, with all checks of `readArchive`; a failure leaves some of them there. */
export async function unpackArchive(
  file: string,
  folder: string,
  options: UnpackOptions,
): Promise<Contents> {
  const unpacking = new Unpacking(folder, options)
  const limits: ArchiveLimits = { expandedBytes: options.limitBytes, entries: maxEntries }
  return readArchive(file, limits, async (entry, content) => {
    if (options.takes(entry)) await unpacking.write(entry, content)
  })
}

class Unpacking {
  readonly #root: string
  readonly #options: UnpackOptions
  readonly #made = new Set<string>([''])

  constructor(root: string, options: UnpackOptions) {
    this.#root = root
    this.#options = options
  }

  async write(
    { kind, path: name, isExecutable }: ArchiveEntry,
    content: AsyncIterable<Buffer>,
  ): Promise<void> {
    if (kind === 'folder') return this.#folder(name)
    await this.#folder(name.includes('/') ? path.posix.dirname(name) : '')
    const { modes, owner } = this.#options
    // `wx` follows no link and replaces nothing.
    const handle = await open(path.join(this.#root, name), 'wx', 0o600)
    try {
      for await (const chunk of content) await handle.writeFile(chunk)
      await handle.chmod(isExecutable ? modes.program : modes.file)
      if (owner) await handle.chown(owner.uid, owner.gid)
    } finally {
      await handle.close()
    }
  }

  async #folder(name: string): Promise<void> {
    if (this.#made.has(name)) return
    await this.#folder(name.includes('/') ? path.posix.dirname(name) : '')
    const folder = path.join(this.#root, name)
    await mkdir(folder, { mode: 0o700 })
    const { modes, owner } = this.#options
    const handle = await open(folder, 'r')
    try {
      await handle.chmod(modes.folder)
      if (owner) await handle.chown(owner.uid, owner.gid)
    } finally {
      await handle.close()
    }
    this.#made.add(name)
  }
}
