import { type BigIntStats, constants, type Dirent } from 'node:fs'
import { type FileHandle, lstat, open, readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from '../../platform/files/content.ts'
import type { Clock } from '../../platform/time.ts'
import type { Access, FileEntry, Tree } from './manifest.ts'
import { partsOf } from './manifest.ts'
import { BackupRefused } from './refused.ts'
import { type BackupStore, type Bytes, partBytes, WholeDigest } from './store.ts'

/** What to copy, and where to. */
export type Copying = {
  store: BackupStore
  /** Paths of entries to leave out, with everything below. */
  leavesOut: (path: string) => boolean
  /** Where unreadable files are left out instead of ending the backup: a run can make its files so. */
  mayBeUnreadable: (path: string) => boolean
  /** The SHA-256 that the path of a file promises; null if the file must be read. */
  promised: (path: string) => string | null
  /** Files of the previous backup, by SHA-256. */
  known: ReadonlyMap<string, FileEntry>
  copied: (bytes: number) => void
  now: Clock
  signal: AbortSignal
}

/** Several small files at once: each waits for the disk. */
const atOnce = 8
/** A file that changed so shortly before it was read may have changed again without another time, in milliseconds. */
const freshMs = 2_000

/**
 * Copies the files of a folder that is in use. May be called repeatedly, and then copies only changes. Follows no links,
 * even if a run exchanges its folders for links meanwhile. A file that vanishes is left out.
 */
export class TreeCopy {
  readonly #root: string
  readonly #copying: Copying
  readonly #seen = new Map<string, { stamp: string | null; entry: FileEntry }>()
  #leftOut = new Set<string>()

  constructor(root: string, copying: Copying) {
    this.#root = root
    this.#copying = copying
  }

  /** How many files could not be read in the last pass. */
  get leftOut(): number {
    return this.#leftOut.size
  }

  async pass(): Promise<Tree> {
    const tree: Tree = { files: [], folders: [], links: [] }
    this.#leftOut = new Set()
    const top = await open(this.#root, constants.O_RDONLY | constants.O_DIRECTORY)
    try {
      await this.#folder({ handle: top, place: this.#root }, '', tree)
    } finally {
      await top.close()
    }
    return tree
  }

  /** The paths of all files that are there, without reading them. */
  async list(): Promise<Set<string>> {
    const found = new Set<string>()
    for await (const path of filesIn(this.#root, this.#copying.leavesOut)) found.add(path)
    return found
  }

  /** The entry of a file that an earlier pass has copied and that has vanished since. */
  earlier(path: string): FileEntry | null {
    return this.#seen.get(path)?.entry ?? null
  }

  async #folder(folder: Folder, path: string, tree: Tree): Promise<void> {
    const entries = await readdir(within(folder, '.'), { withFileTypes: true, encoding: 'buffer' })
    const named = entries.flatMap(entry => this.#nameOf(entry, path))
    const files = named.filter(({ entry }) => entry.isFile())
    for (let at = 0; at < files.length; at += atOnce)
      await Promise.all(
        files
          .slice(at, at + atOnce)
          .map(one => this.#tolerant(one.path, () => this.#file(folder, one, tree))),
      )
    for (const one of named.filter(({ entry }) => entry.isSymbolicLink()))
      await this.#tolerant(one.path, async () => {
        const target = await readlink(within(folder, one.name))
        tree.links.push({ path: one.path, target })
      })
    for (const one of named.filter(({ entry }) => entry.isDirectory()))
      await this.#tolerant(one.path, () => this.#subfolder(folder, one, tree))
  }

  /** Names that are not UTF-8 cannot be restored. */
  #nameOf(entry: Dirent<Buffer>, path: string): Named[] {
    const name = entry.name.toString()
    const inside = path === '' ? name : `${path}/${name}`
    if (this.#copying.leavesOut(inside)) return []
    if (Buffer.from(name).equals(entry.name)) return [{ name, path: inside, entry }]
    this.#leftOut.add(inside)
    return []
  }

  async #subfolder(folder: Folder, { name, path }: Named, tree: Tree): Promise<void> {
    const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
    const handle = await open(within(folder, name), flags)
    try {
      tree.folders.push({ path, ...accessOf(await handle.stat({ bigint: true })) })
      await this.#folder({ handle, place: join(folder.place, name) }, path, tree)
    } finally {
      await handle.close()
    }
  }

  async #file(folder: Folder, { name, path }: Named, tree: Tree): Promise<void> {
    this.#copying.signal.throwIfAborted()
    // Nonblocking: it may have become a pipe, which would wait for a writer.
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
    const handle = await open(within(folder, name), flags)
    try {
      const found = await handle.stat({ bigint: true })
      if (!found.isFile()) return
      const stamp = stampOf(found, this.#copying.now())
      const seen = this.#seen.get(path)
      const entry =
        seen && stamp !== null && seen.stamp === stamp
          ? seen.entry
          : await this.#copy(handle, path, found)
      this.#seen.set(path, { stamp, entry })
      tree.files.push(entry)
    } finally {
      await handle.close()
    }
  }

  async #copy(handle: FileHandle, path: string, found: BigIntStats): Promise<FileEntry> {
    const size = Number(found.size)
    const about = { path, mtime_ms: Number(found.mtimeMs), ...accessOf(found) }
    const known = this.#copying.known.get(this.#copying.promised(path) ?? '')
    if (known && known.size === size && (await this.#copying.store.has(partsOf(known)))) {
      this.#copying.copied(size)
      const { sha256, parts } = known
      return { ...about, size, sha256, ...(parts && { parts }) }
    }
    return { ...about, ...(await this.#content(handle, size)) }
  }

  /** At most `size` bytes, because reading might never reach the end of a growing file. */
  async #content(
    handle: FileHandle,
    size: number,
  ): Promise<Pick<FileEntry, 'size' | 'sha256' | 'parts'>> {
    const { store, copied, signal } = this.#copying
    const parts: string[] = []
    const whole = size > partBytes ? new WholeDigest() : null
    let at = 0
    while (at < size) {
      signal.throwIfAborted()
      const bytes = await readPart(handle, at, Math.min(partBytes, size - at))
      if (bytes.length === 0) break
      parts.push(await store.put(bytes))
      await whole?.add(bytes)
      at += bytes.length
      copied(bytes.length)
    }
    const [only] = parts
    if (only === undefined) return { size: 0, sha256: emptyDigest }
    if (whole === null || parts.length === 1) return { size: at, sha256: only }
    return { size: at, sha256: whole.hex(), parts }
  }

  async #tolerant(path: string, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      // Vanished, or became a link or another kind of file.
      if (hasCode(error, 'ENOENT', 'ELOOP', 'ENOTDIR', 'ENXIO', 'EINVAL')) return
      if (!hasCode(error, 'EACCES', 'EPERM', 'EAGAIN')) throw error
      if (!this.#copying.mayBeUnreadable(path))
        throw new BackupRefused(
          `${join(this.#root, path)} cannot be read; make the backup as the user who runs the server.`,
          error,
        )
      this.#leftOut.add(path)
    }
  }
}

const emptyDigest = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

type Named = { name: string; path: string; entry: Dirent<Buffer> }
type Folder = { handle: FileHandle; place: string }

/**
 * A name in an open folder. Node has no openat(2); on Linux the link to the descriptor is as good, and a run cannot
 * exchange it.
 */
const within = ({ handle, place }: Folder, name: string): string =>
  process.platform === 'linux' ? `/proc/self/fd/${handle.fd}/${name}` : join(place, name)

/** Null if equal stamps would prove nothing. */
function stampOf({ size, mtimeNs, ctimeNs, ino, ctimeMs }: BigIntStats, now: Date): string | null {
  if (now.getTime() - Number(ctimeMs) < freshMs) return null
  return [size, mtimeNs, ctimeNs, ino].join(' ')
}

/** Only root can restore the owner. */
function accessOf({ mode, uid, gid }: BigIntStats): Access {
  const isRoot = process.getuid?.() === 0
  return { mode: Number(mode) & 0o7777, owner: isRoot ? [Number(uid), Number(gid)] : null }
}

async function readPart(handle: FileHandle, at: number, length: number): Promise<Bytes> {
  const bytes = Buffer.allocUnsafe(length)
  let filled = 0
  while (filled < length) {
    const { bytesRead } = await handle.read(bytes, filled, length - filled, at + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return bytes.subarray(0, filled)
}

/** The paths of the files below a folder; a folder that vanishes or cannot be read has none. */
async function* filesIn(
  root: string,
  leavesOut: (path: string) => boolean,
  path = '',
): AsyncGenerator<string> {
  const entries = await readdir(join(root, path), { withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    const inside = path === '' ? entry.name : `${path}/${entry.name}`
    if (leavesOut(inside)) continue
    if (entry.isDirectory()) yield* filesIn(root, leavesOut, inside)
    else if (entry.isFile()) yield inside
  }
}

/** The size of everything below a folder, and of the files that differ from the previous backup, in bytes. */
export async function measure(
  root: string,
  leavesOut: (path: string) => boolean,
  previous: ReadonlyMap<string, FileEntry>,
): Promise<{ total: number; changed: number }> {
  let [total, changed] = [0, 0]
  for await (const path of filesIn(root, leavesOut)) {
    const found = await lstat(join(root, path)).catch(() => null)
    if (!found) continue
    const before = previous.get(path)
    const isSame = before?.size === found.size && before.mtime_ms === Math.floor(found.mtimeMs)
    total += found.size
    if (!isSame) changed += found.size
  }
  return { total, changed }
}
