import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { chmod, chown, lstat, mkdir, readdir, readlink, symlink } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { isErrno } from '../attempts/durable-json.ts'
import { attemptsIn } from '../attempts/run-directory.ts'
import type { IdRange } from './isolation.ts'

/**
 * The user (and group of the same number) of each run, the same for all of its attempts: recorded in the run's
 * directory, which no other user may pass, and free again when that directory is gone.
 */
export class RunIdentities {
  readonly #runsDirectory: string
  readonly #ids: IdRange
  /** One search at a time, so that two runs do not take the same id. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(runsDirectory: string, ids: IdRange) {
    this.#runsDirectory = runsDirectory
    this.#ids = ids
  }

  of(run_id: string): Promise<number> {
    const next = this.#last.catch(() => {}).then(() => this.#of(run_id))
    this.#last = next
    return next
  }

  async #of(run_id: string): Promise<number> {
    const directory = path.join(this.#runsDirectory, run_id)
    await mkdir(directory, { recursive: true, mode: 0o700 })
    const id = await this.#claim(path.join(directory, 'user'))
    if ((await lstat(directory)).gid === id) return id
    // Attempts from before there were identities: their files go with the run.
    for (const attempt of await attemptsIn(directory))
      await giveTo(id, path.join(directory, String(attempt)))
    await chown(directory, 0, id)
    await chmod(directory, 0o710)
    return id
  }

  /** A link is created atomically, so that two servers agree. */
  async #claim(record: string): Promise<number> {
    const claimed = await readlink(record).catch(missing)
    if (claimed !== null) return Number(claimed)
    const free = this.#free(await this.#used())
    try {
      await symlink(String(free), record)
      return free
    } catch (error) {
      if (!isErrno(error, 'EEXIST')) throw error
      return Number(await readlink(record))
    }
  }

  async #used(): Promise<Set<number>> {
    const names = await readdir(this.#runsDirectory)
    const found = await Promise.all(
      names.map(name => lstat(path.join(this.#runsDirectory, name)).catch(missing)),
    )
    return new Set(found.flatMap(stats => (stats ? [stats.gid] : [])))
  }

  /** The trial uses the last id of the range. */
  #free(used: ReadonlySet<number>): number {
    const { first, count } = this.#ids
    const start = randomInt(count - 1)
    for (let step = 0; step < count - 1; step++) {
      const id = first + ((start + step) % (count - 1))
      if (!used.has(id)) return id
    }
    throw new Error(`all ${count} user ids for runs are taken; delete files of ended runs`)
  }
}

/**
 * The user that an attempt's directory was given to; null if it has none. Only an id of the range: processes of other users
 * must not be mistaken for the run's.
 */
export async function ownerIn(
  directory: string,
  { first, count }: IdRange,
): Promise<number | null> {
  const found = await lstat(directory).catch(missing)
  if (process.getuid?.() !== 0 || found === null || found.uid !== 0) return null
  return found.gid >= first && found.gid < first + count ? found.gid : null
}

function missing(error: unknown): null {
  if (isErrno(error, 'ENOENT')) return null
  throw error
}

/** The server keeps the attempt's folder; the user gets the files that its run made. */
async function giveTo(id: number, attempt: string): Promise<void> {
  await chown(attempt, 0, id)
  await chmod(attempt, 0o710)
  const tmp = path.join(attempt, 'tmp')
  // -P and -h: links are changed, never followed.
  await promisify(execFile)('chown', ['-RPh', `${id}:${id}`, '--', path.join(attempt, 'work'), tmp])
  await openToRoot(tmp, id)
}

/**
 * Lets the root of a mount namespace, which has hardly any capabilities, pass through the private `/tmp` to mounts below
 * it, e.g. an installation in `/tmp`. No other user belongs to its group.
 */
export async function openToRoot(tmp: string, owner: number): Promise<void> {
  await chown(tmp, owner, 0)
  await chmod(tmp, 0o710)
}
