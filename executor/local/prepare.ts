import { randomUUID } from 'node:crypto'
import { chmod, chown, mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import type { Launch } from '../port.ts'
import { type AttemptPaths, attemptPaths, type LaunchRecord } from './attempt-directory.ts'
import { isErrno, syncDirectory, writeDurably } from './durable-json.ts'
import { identify } from './processes.ts'
import { nodesOf } from './ranks.ts'
import { openToRoot } from './run-identity.ts'

const debrisMs = 3600 * 1000

/**
 * Creates the directory of an attempt atomically: a finished directory is renamed into place, which fails if the
 * target exists. No-op if the directory already exists. `id` is the user of the run, if it has one.
 */
export async function prepareAttempt(
  runsDirectory: string,
  launch: Launch,
  { now, id }: { now: Date; id: number | null },
): Promise<AttemptPaths> {
  const runDirectory = path.join(runsDirectory, launch.run_id)
  const directory = path.join(runDirectory, String(launch.attempt))
  const fresh = attemptPaths(path.join(runsDirectory, `.new-${randomUUID()}`))
  // Not the folder above it, which is missing while its disk is.
  await mkdir(runDirectory, { mode: 0o700 }).catch(error => {
    if (!isErrno(error, 'EEXIST')) throw error
  })
  try {
    await mkdir(fresh.directory, { mode: 0o700 })
    const tmps = nodesOf(launch).map(({ rank }) => fresh.rank(rank).tmp)
    for (const made of [fresh.work, ...tmps, fresh.control]) await mkdir(made, { mode: 0o700 })
    if (id !== null) await giveFolders(fresh, tmps, id)
    await writeDurably(fresh.launch, toLaunchRecord(launch, now))
    await rename(fresh.directory, directory)
    await syncDirectory(runDirectory)
    await syncDirectory(runsDirectory)
  } catch (error) {
    await rm(fresh.directory, { recursive: true, force: true })
    if (!isErrno(error, 'ENOTEMPTY', 'EEXIST')) throw error
  }
  return attemptPaths(directory)
}

/** The run's user may pass the directory, and owns what it writes to; its group may read what it made. */
async function giveFolders(
  paths: AttemptPaths,
  tmps: readonly string[],
  id: number,
): Promise<void> {
  await chown(paths.directory, 0, id)
  await chmod(paths.directory, 0o710)
  await chown(paths.work, id, id)
  await chmod(paths.work, 0o750)
  for (const tmp of tmps) await openToRoot(tmp, id)
}

/** The record of a launch by this process. */
export function toLaunchRecord(launch: Launch, now: Date): LaunchRecord {
  const submitter = identify(process.pid)
  if (!submitter) throw new Error('the local executor needs /proc')
  const { run_id, attempt, fencing_token, nodes, gpu_indexes, command, preparation } = launch
  return {
    run_id,
    attempt,
    fencing_token,
    nodes,
    gpu_indexes,
    command,
    preparation: preparation?.command ?? null,
    mark: `${run_id}/${attempt}/${randomUUID()}`,
    submitted_at: now.toISOString(),
    submitter,
  }
}

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
