import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rename, rm, rmdir, stat, unlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { exitCode, Failure } from '../program/failure.ts'
import { pause } from '../program/pause.ts'

/** A lock older than this belongs to a command that was killed, or sleeps with its machine. */
const abandonedMs = 40_000
const lookEveryMs = 50
const giveUpMs = 3 * abandonedMs

/**
 * Runs the work while no other command holds the lock of the same file. May not be nested.
 *
 * The lock is a folder with one file, whose name is its holder's own. It comes with that file, because it is renamed into
 * place, and no folder can be renamed to one that is not empty. An abandoned lock is opened by removing the file of the
 * holder that was seen: if others have taken over meanwhile, their file has another name and stays.
 */
export async function inTurn<T>(path: string, work: () => Promise<T>): Promise<T> {
  const lock = `${path}.lock`
  const own = randomUUID()
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const endsMs = performance.now() + giveUpMs
  while (!(await take(lock, own))) {
    if (performance.now() > endsMs)
      throw new Failure(exitCode.unavailable, `Other commands hold ${lock} all the time; try again`)
    await pause(lookEveryMs)
  }
  try {
    return await work()
  } finally {
    await release(lock, own)
  }
}

async function take(lock: string, own: string): Promise<boolean> {
  if (!(await isFree(lock))) return false
  const next = `${lock}.${own}`
  await mkdir(next)
  await writeFile(join(next, own), '')
  try {
    await rename(next, lock)
    return true
  } catch (error) {
    await rm(next, { recursive: true, force: true })
    if (isTaken(error)) return false
    throw error
  }
}

/** The errors that POSIX allows for a rename to a folder that is not empty. */
const isTaken = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^(ENOTEMPTY|EEXIST)$/.test(String(error.code))

/** Opens a lock that was abandoned. */
async function isFree(lock: string): Promise<boolean> {
  const [holder] = await readdir(lock).catch(() => [])
  if (holder === undefined) return true
  const taken = await stat(join(lock, holder)).catch(() => null)
  if (taken === null || Date.now() - taken.mtimeMs <= abandonedMs) return false
  await release(lock, holder)
  return true
}

/** Nothing happens to the lock of another holder: its folder is not empty. */
async function release(lock: string, holder: string): Promise<void> {
  await unlink(join(lock, holder)).catch(() => {})
  await rmdir(lock).catch(() => {})
}
