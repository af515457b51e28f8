import { type Dirent, readdirSync, statSync } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import path from 'node:path'
import type { WatchedVolume } from '../attempts/attempt-directory.ts'
import { isErrno } from '../attempts/durable-json.ts'

/** `st_blocks` counts these, whatever the block size of the file system. */
const blockBytes = 512
/** Files that are looked at together; a tree may have millions. */
const atOnce = 16

/**
 * How much of its file system an attempt occupies, in bytes: everything in these folders, and files that the
 * processes have deleted but still hold open. Links are not followed, other file systems not entered, and a file with several
 * names counts once. Infinity if a folder cannot be read: a run must not hide its files that way.
 */
export async function diskUse(
  folders: readonly string[],
  pids: readonly number[],
): Promise<number> {
  const counted: Counted = { bytes: 0, linked: new Set() }
  for (const folder of folders) {
    const top = await lstat(folder).catch(missing)
    if (top) await addTree(counted, folder, top.dev)
    if (top) addDeleted(counted, pids, top.dev)
  }
  return counted.bytes
}

/** The bytes in each volume; a file that is deleted but still open counts for the attempt, if it is on its file system. */
export async function volumesUse(volumes: readonly WatchedVolume[], beside: string) {
  const here = await lstat(beside)
  return Promise.all(
    volumes.map(async ({ name, path: folder, limit_bytes }) => ({
      ...{ name, limit_bytes, used: await diskUse([folder], []) },
      isHere: (await lstat(folder).catch(missing))?.dev === here.dev,
    })),
  )
}

type Counted = { bytes: number; linked: Set<number> }
type Known = { ino: number; nlink: number; blocks: number }

async function addTree(counted: Counted, folder: string, dev: number): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(error => {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return [] as Dirent[]
    if (!isErrno(error, 'EACCES', 'EPERM')) throw error
    counted.bytes = Number.POSITIVE_INFINITY
    return [] as Dirent[]
  })
  for (let at = 0; at < entries.length; at += atOnce)
    await Promise.all(
      entries.slice(at, at + atOnce).map(async entry => {
        const file = path.join(folder, entry.name)
        const facts = await lstat(file).catch(missing)
        if (facts?.dev !== dev) return
        add(counted, facts)
        if (facts.isDirectory()) await addTree(counted, file, dev)
      }),
    )
}

function add(counted: Counted, { ino, nlink, blocks }: Known): void {
  // A folder has as many links as it has subfolders, but only one name.
  if (nlink !== 1) {
    if (counted.linked.has(ino)) return
    counted.linked.add(ino)
  }
  counted.bytes += blocks * blockBytes
}

function addDeleted(counted: Counted, pids: readonly number[], dev: number): void {
  for (const pid of pids)
    for (const fd of openFiles(pid)) {
      const facts = trySync(() => statSync(`/proc/${pid}/fd/${fd}`))
      if (facts?.dev === dev && facts.nlink === 0 && facts.isFile()) add(counted, facts)
    }
}

const openFiles = (pid: number): string[] => trySync(() => readdirSync(`/proc/${pid}/fd`)) ?? []

/** Null for a process or a file that is gone, or that this user may not look at. */
function trySync<T>(look: () => T): T | null {
  try {
    return look()
  } catch {
    return null
  }
}

function missing(error: unknown): null {
  if (isErrno(error, 'ENOENT', 'ENOTDIR')) return null
  throw error
}
