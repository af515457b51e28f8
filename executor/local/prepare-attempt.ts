import { randomUUID } from 'node:crypto'
import { chmod, chown, mkdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { engineSocket } from '../../schemas/deployments/replicas.ts'
import { type AttemptPaths, attemptPaths } from '../attempts/attempt-directory.ts'
import { isErrno, syncDirectory, writeDurably } from '../attempts/durable-json.ts'
import { toLaunchRecord } from '../attempts/launch-record.ts'
import { nodesOf } from '../node/ranks.ts'
import { openToRoot } from '../node/run-identity.ts'
import type { Launch } from '../port.ts'

/**
 * Creates the directory of an attempt atomically: a finished directory is renamed into place, which fails if the
 * target exists. No-op if the directory already exists. `id` is the user of the run, if it has one.
 */
export async function prepareAttempt(
  runsDirectory: string,
  submission: { launch: Launch; preparation: string[] | null },
  { now, id }: { now: Date; id: number | null },
): Promise<AttemptPaths> {
  const { launch } = submission
  const runDirectory = path.join(runsDirectory, launch.run_id)
  const directory = path.join(runDirectory, String(launch.attempt))
  const fresh = attemptPaths(path.join(runsDirectory, `.new-${randomUUID()}`))
  // Not the folder above it, which is missing while its disk is.
  await mkdir(runDirectory, { mode: 0o700 }).catch(error => {
    if (!isErrno(error, 'EEXIST')) throw error
  })
  if (launch.serves) await makeSocketFolder(engineSocket(runsDirectory, launch.run_id), id)
  try {
    await mkdir(fresh.directory, { mode: 0o700 })
    const tmps = nodesOf(launch).map(({ rank }) => fresh.rank(rank).tmp)
    for (const made of [fresh.work, ...tmps, fresh.control]) await mkdir(made, { mode: 0o700 })
    if (id !== null) await giveFolders(fresh, tmps, id)
    await writeDurably(fresh.launch, toLaunchRecord(submission, now))
    await rename(fresh.directory, directory)
    await syncDirectory(runDirectory)
    await syncDirectory(runsDirectory)
  } catch (error) {
    await rm(fresh.directory, { recursive: true, force: true })
    if (!isErrno(error, 'ENOTEMPTY', 'EEXIST')) throw error
  }
  return attemptPaths(directory)
}

/** The same for all attempts of a run, so that gateways know the path before an attempt begins. */
async function makeSocketFolder(socket: string, id: number | null): Promise<void> {
  const folder = path.dirname(socket)
  await mkdir(folder, { mode: 0o700 }).catch(error => {
    if (!isErrno(error, 'EEXIST')) throw error
  })
  if (id !== null) await chown(folder, id, id)
}

/** The run's user may enter the directory and owns the folders it writes to; its group may read its files. */
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
