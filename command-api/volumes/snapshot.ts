import { createHash } from 'node:crypto'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { volumeAt } from '../../events/volumes.ts'
import { filesInside, NotInside, openFileInside } from '../../platform/files/inside.ts'
import { Refusal } from '../../platform/refusal.ts'
import { datasetFileName, maxDatasetFiles } from '../../schemas/datasets/datasets.ts'
import type { Cause } from '../commit/asked.ts'
import { transact, type Work } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { decided, nothing, type Outcome } from '../effects/outcome.ts'
import { reactor } from '../effects/reactor.ts'
import { roleIfEnabled } from '../rules/enabled-person.ts'
import { folderOf } from '../rules/volumes.ts'
import { failSnapshot, finishSnapshot } from './decide.ts'
import { saveVolume, type VolumeOnDisk, volumeOnDisk } from './rows.ts'

type Asking = { username: string; role: 'admin' | 'operator' }
type FileOfPerson = { owner: string; sha256: string; size_bytes: number }

/** What a snapshot needs of uploads and datasets. */
export type SnapshotMaker = {
  /** Stores a file as a registered upload of its owner, unless they have sent the same before; returns the upload's id. */
  keepFile(
    deps: Deps,
    cause: Cause,
    file: FileOfPerson,
    open: () => Promise<Readable>,
  ): Promise<string>
  /** The streams that `push` appends to. */
  locks(dataset: string): string[]
  push(
    work: Work,
    made: { dataset: string; files: { upload_id: string; name: string }[]; caller: Asking },
  ): Promise<{ ref: string; created: boolean }>
}

type Payload = {
  volume_id: string
  snapshot_id: string
  path: string
  dataset: string
  requested_by: string
}

const attempts = 6

/** Ends a snapshot with these words. */
class Unsuitable extends Error {}

/**
 * Makes files of a volume a version of a dataset. A killed process leaves uploads: the next attempt finds them by their digests, and
 * unused ones are deleted after a day.
 */
export const volumeSnapshots = (maker: SnapshotMaker) =>
  reactor<Payload, Deps>({
    name: 'snapshot-volumes',
    repeat: 'ask first',
    deadlineMs: 3_600_000,
    renewMs: 10_000,
    attempts,
    atOnce: 2,
    dutiesOf({ type, data }) {
      if (type !== 'volume.snapshot_requested') return []
      const { volume_id, snapshot_id, path, dataset, requested_by } = data
      return [{ payload: { volume_id, snapshot_id, path, dataset, requested_by } }]
    },
    async perform({ payload, attempt }, deps, signal): Promise<Outcome> {
      const volume = await volumeOnDisk(deps.pool, payload.volume_id)
      if (!volume || !(await isUnderWay(deps, payload))) return nothing
      try {
        await makeSnapshot(deps, maker, { volume, payload, signal })
        return nothing
      } catch (error) {
        signal.throwIfAborted()
        const why = reasonOf(error)
        if (why === null && attempt < attempts) throw error
        return [failed(volume, payload, why ?? 'It failed on this server; its log says why')]
      }
    },
  })

function reasonOf(error: unknown): string | null {
  if (error instanceof Unsuitable) return error.message
  if (error instanceof NotInside) return `${error.message}; it may have changed meanwhile`
  const isFinal =
    error instanceof Refusal && !['unavailable', 'backend_failed'].includes(error.code)
  return isFinal ? error.detail : null
}

function failed(volume: VolumeOnDisk, { snapshot_id }: Payload, reason: string) {
  const data = { ...identityOf(volume), snapshot_id, reason: reason.slice(0, 1000) }
  return decided(volumeAt(volume), {
    decide: before => failSnapshot(before, data),
    alongside: saveVolume,
  })
}

async function isUnderWay({ pool }: Deps, { snapshot_id }: Payload): Promise<boolean> {
  const { rowCount } = await pool.query('select from write.volume_hold where holder = $1', [
    snapshot_id,
  ])
  return rowCount === 1
}

const identityOf = ({ volume_id, owner, name }: VolumeOnDisk) => ({ volume_id, owner, name })

type Making = { volume: VolumeOnDisk; payload: Payload; signal: AbortSignal }

async function makeSnapshot(deps: Deps, maker: SnapshotMaker, making: Making): Promise<void> {
  const { volume, payload, signal } = making
  const { snapshot_id, dataset, requested_by: username } = payload
  const role = await roleIfEnabled(deps.pool, username)
  if (role === null) throw new Unsuitable(`${username} may not sign in any more`)
  const folder = folderOf(deps.volumes, volume)
  if (folder === null)
    throw new Unsuitable(`The volumes of ${volume.backend} are not here any more`)
  const cause: Cause = {
    actor: { type: 'user', id: username, via: 'snapshot' },
    requestId: snapshot_id,
  }
  const files: { upload_id: string; name: string }[] = []
  for (const { inside, name } of await filesOf(folder, payload.path)) {
    signal.throwIfAborted()
    const facts = await factsOf(folder, inside, signal)
    const open = async () => (await openFileInside(folder, inside)).handle.createReadStream()
    const upload_id = await maker.keepFile(deps, cause, { owner: username, ...facts }, open)
    files.push({ upload_id, name })
  }
  await transact(deps, cause, {
    target: volumeAt(volume),
    locks: maker.locks(dataset),
    async make(work) {
      const { ref, created } = await maker.push(work, {
        dataset,
        files,
        caller: { username, role },
      })
      await work.decide(volumeAt(volume), {
        decide: before =>
          finishSnapshot(before, { ...identityOf(volume), snapshot_id, ref, created }),
        alongside: saveVolume,
      })
    },
  })
}

async function filesOf(folder: string, asked: string) {
  const found = await filesBelow(folder, asked)
  if (found === null)
    throw new Unsuitable(`A version of a dataset has at most ${maxDatasetFiles} files`)
  if (found.length === 0) throw new Unsuitable('There are no files')
  const isName = new RegExp(datasetFileName, 'u')
  return found.map(inside => {
    const name = inside === asked ? path.posix.basename(inside) : path.posix.relative(asked, inside)
    if (!isName.test(name) || name.length > 255)
      throw new Unsuitable(
        `${name.slice(0, 200)} cannot be the name of a file of a dataset: names have letters, digits, dots, dashes and underscores, and do not begin with a dot`,
      )
    return { inside, name }
  })
}

async function filesBelow(folder: string, asked: string): Promise<string[] | null> {
  if (asked === '') return filesInside(folder, asked, maxDatasetFiles)
  const isFile = await openFileInside(folder, asked).then(
    async ({ handle }) => {
      await handle.close()
      return true
    },
    () => false,
  )
  return isFile ? [asked] : filesInside(folder, asked, maxDatasetFiles)
}

async function factsOf(folder: string, inside: string, signal: AbortSignal) {
  const { handle } = await openFileInside(folder, inside)
  const hash = createHash('sha256')
  let size_bytes = 0
  for await (const chunk of handle.createReadStream({ signal })) {
    hash.update(chunk)
    size_bytes += chunk.length
  }
  if (size_bytes === 0) throw new Unsuitable(`${inside} is empty`)
  return { sha256: hash.digest('hex'), size_bytes }
}
