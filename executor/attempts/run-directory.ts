import { access, lstat, readdir, realpath } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AttemptRef } from '../port.ts'
import { attemptPaths } from './attempt-directory.ts'
import { isErrno } from './durable-json.ts'

const isRunId = (run_id: string): boolean => /^[A-Za-z0-9_-]{1,100}$/.test(run_id)

/**
 * The directory of all attempts of a run; null if it does not exist. Throws if it is not a directory, because the
 * target of a link is not ours to delete.
 */
export async function runDirectory(runsDirectory: string, run_id: string): Promise<string | null> {
  if (!isRunId(run_id)) return null
  const directory = path.join(runsDirectory, run_id)
  try {
    if (!(await lstat(directory)).isDirectory()) throw new Error(`${directory} is not a directory`)
    return directory
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null
    throw error
  }
}

export async function attemptsIn(directory: string): Promise<number[]> {
  const names = await readdir(directory)
  return names.filter(name => /^[1-9]\d{0,8}$/.test(name)).map(Number)
}

/** The attempts of all runs whose end is not recorded. */
export async function unfinishedIn(runsDirectory: string): Promise<AttemptRef[]> {
  const found: AttemptRef[] = []
  for (const run_id of (await readdir(runsDirectory)).filter(isRunId)) {
    const attempts = await attemptsIn(path.join(runsDirectory, run_id)).catch(noneThere)
    for (const attempt of attempts) {
      const ref = `${run_id}/${attempt}`
      const { exit } = attemptPaths(path.join(runsDirectory, ref))
      const isRecorded = await access(exit).then(
        () => true,
        () => false,
      )
      if (!isRecorded) found.push(ref)
    }
  }
  return found
}

/** Deleted meanwhile, or not a folder. */
function noneThere(error: unknown): [] {
  if (isErrno(error, 'ENOENT', 'ENOTDIR')) return []
  throw error
}

/**
 * Whether a path named by running code lies in the directory, literally or after resolving links. A relative path
 * counts as inside, because running code starts in there.
 */
export async function liesIn(directory: string, named: string): Promise<boolean> {
  const local = localPath(named)
  if (local === null) return false
  if (!path.isAbsolute(local)) return true
  const places = [path.resolve(local), await realpath(local).catch(() => null)]
  const roots = [path.resolve(directory), await realpath(directory)]
  return places.some(
    place => place !== null && roots.some(root => `${place}/`.startsWith(`${root}/`)),
  )
}

/** Null for a URL that is not a `file:` URL; empty for one that cannot be read. */
export function localPath(named: string): string | null {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(named)) return named
  if (!/^file:/i.test(named)) return null
  try {
    return fileURLToPath(named)
  } catch {
    // An unreadable URL counts as inside, so that the files are kept.
    return ''
  }
}
