import { constants, type Dirent, type Stats } from 'node:fs'
import { type FileHandle, lstat, open, opendir, readlink, realpath } from 'node:fs/promises'
import path from 'node:path'
import { hasCode } from './content.ts'

/**
 * Reads inside a folder to which untrusted programs write, perhaps at this moment. Files are checked after they were opened, by
 * the path of the descriptor (/proc/self/fd), so a link that is created between a check and its use has no effect.
 */

/** A path that leads nowhere, or out of the folder. */
export class NotInside extends Error {}

const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW, O_DIRECTORY } = constants

export type Opened = { handle: FileHandle; stats: Stats }

/** A file inside the folder; the caller closes it. */
export async function openFileInside(folder: string, inside: string): Promise<Opened> {
  const opened = await openInside(folder, inside, O_NONBLOCK)
  if (opened.stats.isFile()) return opened
  await opened.handle.close()
  throw new NotInside(`${inside} is not a file`)
}

async function openInside(folder: string, inside: string, flags: number): Promise<Opened> {
  const root = await realpath(folder).catch(nowhere(inside))
  const handle = await open(path.join(root, inside), O_RDONLY | O_NOFOLLOW | flags).catch(
    nowhere(inside),
  )
  try {
    const led = await readlink(`/proc/self/fd/${handle.fd}`)
    if (led !== root && !led.startsWith(`${root}/`))
      throw new NotInside(`${inside} leads out of the folder`)
    const stats = await handle.stat()
    // A hard link to a file of somebody else.
    if (stats.uid !== (await lstat(root)).uid) throw new NotInside(`${inside} is a file of others`)
    return { handle, stats }
  } catch (error) {
    await handle.close()
    throw error
  }
}

const nowhere = (inside: string) => (error: unknown) => {
  if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'EACCES', 'ENAMETOOLONG', 'EINVAL'))
    throw new NotInside(`${inside || 'the folder'} is not there`, { cause: error })
  throw error
}

export type Entry = {
  name: string
  kind: 'file' | 'folder' | 'link' | 'other'
  size_bytes: number
  modified_at: Date
}

/** How many names are kept while a folder is read, for each that is wanted. */
const kept = 8

/** The entries after a name, in the order of names; reads a folder of any size with little memory. Links are not followed. */
export async function listInside(
  folder: string,
  inside: string,
  { after, limit }: { after: string; limit: number },
): Promise<{ entries: Entry[]; next: string | null }> {
  const { handle } = await openInside(folder, inside, O_DIRECTORY)
  try {
    const at = `/proc/self/fd/${handle.fd}`
    const found = await namesAfter(at, after, limit + 1)
    const shown = found.slice(0, limit)
    const entries = await Promise.all(shown.map(one => entryOf(at, one)))
    return {
      entries: entries.flatMap(entry => entry ?? []),
      next: found.length > limit ? (shown.at(-1)?.name ?? null) : null,
    }
  } finally {
    await handle.close()
  }
}

async function namesAfter(at: string, after: string, count: number): Promise<Dirent[]> {
  let found: Dirent[] = []
  const first = () => found.sort((a, b) => (a.name < b.name ? -1 : 1)).slice(0, count)
  for await (const one of await opendir(at)) {
    if (one.name <= after) continue
    found.push(one)
    if (found.length > count * kept) found = first()
  }
  return first()
}

/** Null if it is gone. */
async function entryOf(at: string, { name }: Dirent): Promise<Entry | null> {
  const stats = await lstat(path.join(at, name)).catch(() => null)
  if (stats === null) return null
  const kind = stats.isFile()
    ? 'file'
    : stats.isDirectory()
      ? 'folder'
      : stats.isSymbolicLink()
        ? 'link'
        : 'other'
  return { name, kind, size_bytes: kind === 'file' ? stats.size : 0, modified_at: stats.mtime }
}

/** The paths of all files below a folder, in order; null if there are more than `limit`, or far more folders. */
export async function filesInside(
  folder: string,
  inside: string,
  limit: number,
): Promise<string[] | null> {
  const files: string[] = []
  await (await openInside(folder, inside, O_DIRECTORY)).handle.close()
  let seen = 0
  for await (const { below, stats } of walkInside(folder, inside)) {
    if (stats.isFile()) files.push(below)
    if (files.length > limit || ++seen > limit * kept) return null
  }
  return files.sort()
}

/** The disk space of a folder's files, each counted once; null if `signal` aborts before all are counted. */
export async function bytesInside(folder: string, signal: AbortSignal): Promise<number | null> {
  const linked = new Set<string>()
  let bytes = 0
  for await (const { stats } of walkInside(folder, '')) {
    if (signal.aborted) return null
    if (!stats.isDirectory() && isFirst(linked, stats)) bytes += stats.blocks * blockBytes
  }
  return bytes
}

/** The unit of `st_blocks`. */
const blockBytes = 512

/** A file with several names counts once. */
function isFirst(linked: Set<string>, { dev, ino, nlink }: Stats): boolean {
  if (nlink === 1) return true
  const inode = `${dev}:${ino}`
  if (linked.has(inode)) return false
  linked.add(inode)
  return true
}

type Below = { below: string; stats: Stats }

/** Everything below a folder. Links are not followed, and what vanishes meanwhile is left out. */
async function* walkInside(folder: string, inside: string): AsyncGenerator<Below> {
  const folders = [inside]
  for (let next = folders.pop(); next !== undefined; next = folders.pop())
    for await (const found of statsInside(folder, next)) {
      if (found.stats.isDirectory()) folders.push(found.below)
      yield found
    }
}

/** Nothing if the folder was deleted, or replaced, since its parent was read. */
async function* statsInside(folder: string, inside: string): AsyncGenerator<Below> {
  const opened = await openInside(folder, inside, O_DIRECTORY).catch(skipped)
  if (opened === null) return
  try {
    const at = `/proc/self/fd/${opened.handle.fd}`
    for await (const { name } of await opendir(at)) {
      const stats = await lstat(path.join(at, name)).catch(() => null)
      if (stats !== null) yield { below: path.posix.join(inside, name), stats }
    }
  } finally {
    await opened.handle.close()
  }
}

function skipped(error: unknown): null {
  if (error instanceof NotInside) return null
  throw error
}
