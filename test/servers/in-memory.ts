import { mkdir, readdir, rm, statfs } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** Files here are in memory, on Linux. */
const memory = '/dev/shm'
/** The memory that the clusters of a run may need, with some reserve. */
const neededBytes = 6 * 1024 ** 3

/**
 * A folder in memory that replaces `folder`, or `folder` itself where memory is short: copying a database on a disk takes
 * 0.24 s of processor time, mostly the kernel's, for its 900 files, and 0.014 s in memory.
 */
export async function inMemory(folder: string): Promise<string> {
  const free = await statfs(memory).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  )
  if (free < neededBytes) return folder
  const place = join(memory, `${basename(dirname(folder))}-${basename(folder)}`)
  await mkdir(place, { recursive: true })
  return place
}

/** Releases the memory. */
export const leave = (place: string): Promise<void> => rm(place, { recursive: true, force: true })

/** Releases the memory of a run whose hosts have ended, even if they crashed. */
export async function leaveMemory(runFolder: string): Promise<void> {
  const names = await readdir(memory).catch((): string[] => [])
  const own = names.filter(name => name.startsWith(`${basename(runFolder)}-`))
  await Promise.all(own.map(name => leave(join(memory, name))))
}
