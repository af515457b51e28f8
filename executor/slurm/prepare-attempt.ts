import { randomUUID } from 'node:crypto'
import { mkdir, rename, rm, symlink } from 'node:fs/promises'
import path from 'node:path'
import { isErrno, syncDirectory, writeDurably } from '../attempts/durable-json.ts'
import { toLaunchRecord } from '../attempts/launch-record.ts'
import type { Launch } from '../port.ts'
import { type NodePaths, type SlurmLaunchRecord, slurmPaths } from './attempt-files.ts'

type Submitted = { launch: Launch; preparation: string[] | null }

/** Creates the folders of an attempt and its ranks atomically. No-op if it exists. */
export async function prepareSlurmAttempt(
  runsDirectory: string,
  submission: Submitted,
  now: Date,
): Promise<void> {
  const { run_id, attempt, fencing_token, nodes } = submission.launch
  const run = path.join(runsDirectory, run_id)
  const fresh = slurmPaths(path.join(runsDirectory, `.new-${randomUUID()}`))
  // Not the folders above it: they are missing where the shared folder is not mounted.
  await mkdir(run, { mode: 0o700 }).catch(error => {
    if (!isErrno(error, 'EEXIST')) throw error
  })
  try {
    for (const made of [fresh.directory, fresh.work, fresh.control])
      await mkdir(made, { mode: 0o700 })
    for (let rank = 0; rank < nodes; rank++) await prepareRank(fresh.node(rank), submission, now)
    const record: SlurmLaunchRecord = {
      ...{ run_id, attempt, fencing_token, nodes },
      submitted_at: now.toISOString(),
    }
    await writeDurably(fresh.launch, record)
    await rename(fresh.directory, path.join(run, String(attempt)))
    await syncDirectory(run)
    await syncDirectory(runsDirectory)
  } catch (error) {
    await rm(fresh.directory, { recursive: true, force: true })
    if (!isErrno(error, 'ENOTEMPTY', 'EEXIST')) throw error
  }
}

/** Ranks share the working folder of their attempt. */
async function prepareRank(
  node: NodePaths,
  { launch, preparation }: Submitted,
  now: Date,
): Promise<void> {
  for (const made of [node.directory, node.control, node.rank(0).tmp])
    await mkdir(made, { mode: 0o700 })
  await symlink(path.join('..', 'work'), node.work)
  const ofRank = { ...launch, nodes: 1, gpu_indexes: [] }
  await writeDurably(node.launch, toLaunchRecord({ launch: ofRank, preparation }, now))
}
