import { randomUUID } from 'node:crypto'
import { readdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { isErrno } from './durable-json.ts'

const debrisMs = 3600 * 1000

/** Renamed first, so that the run disappears atomically even if this process ends midway. */
export async function discardRun(runsDirectory: string, directory: string): Promise<void> {
  const aside = path.join(runsDirectory, `.old-${randomUUID()}`)
  try {
    await rename(directory, aside)
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return
    throw error
  }
  await rm(aside, { recursive: true, force: true })
}

/** Removes unfinished preparations and removals left by a crash; young ones may belong to another server. */
export async function removeDebris(runsDirectory: string, now: Date): Promise<void> {
  const names = await readdir(runsDirectory)
  for (const name of names.filter(entry => /^\.(new|old)-/.test(entry))) {
    const directory = path.join(runsDirectory, name)
    const found = await stat(directory).catch(() => null)
    if (found && now.getTime() - found.mtimeMs > debrisMs)
      await rm(directory, { recursive: true, force: true })
  }
}
