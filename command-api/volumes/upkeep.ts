import { readdir, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { type VolumeIdentity, volumeAt } from '../../events/volumes.ts'
import { bytesInside } from '../../platform/files/inside.ts'
import type { VolumeBackend } from '../../schemas/volumes.ts'
import type { Work } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { type Change, decided, nothing, type Outcome, rows } from '../effects/outcome.ts'
import { reactor } from '../effects/reactor.ts'
import { folderOf } from '../rules/volumes.ts'
import { announceCleanup, cleanVolume, measureVolume } from './decide.ts'
import { saveVolume, type VolumeOnDisk } from './rows.ts'

type Needed = Pick<Deps, 'pool' | 'volumes' | 'now' | 'newId' | 'logger'>

const [second, minute, hour] = [1000, 60_000, 3_600_000]
/** The number of volumes that one duty measures, least recently measured first, and the time limit for each. */
const [measuredAtOnce, eachMs] = [50, minute]

/** Measures the files of volumes. A volume too large to count in time keeps its last figure. */
export const volumeMeasurer = reactor<object, Needed>({
  name: 'measure-volumes',
  repeat: 'ask first',
  every: { seconds: 300, payload: () => ({}) },
  deadlineMs: 5 * minute,
  atOnce: 1,
  perform: (_, deps, signal) => measureVolumes(deps, signal),
})

export async function measureVolumes(deps: Needed, signal: AbortSignal): Promise<Outcome> {
  const { rows: found } = await deps.pool.query<VolumeOnDisk>(
    `select volume_id, owner, name, backend, directory from write.volume
      order by measured_at nulls first, volume_id limit $1`,
    [measuredAtOnce],
  )
  const until = AbortSignal.any([signal, AbortSignal.timeout(3 * minute)])
  const outcome: Change[] = []
  for (const { backend, directory, ...named } of found) {
    if (until.aborted) break
    const folder = folderOf(deps.volumes, { backend, directory })
    const signals = [until, AbortSignal.timeout(eachMs)]
    const used_bytes = folder === null ? null : await bytesInside(folder, AbortSignal.any(signals))
    outcome.push(noteMeasured(named))
    if (used_bytes !== null)
      outcome.push(
        decided(volumeAt(named), {
          decide: before => measureVolume(before, named, { directory, used_bytes }),
          alongside: saveVolume,
        }),
      )
  }
  return outcome
}

const noteMeasured = ({ volume_id }: VolumeIdentity): Change =>
  rows((tx, now) =>
    tx.query('update write.volume set measured_at = $2 where volume_id = $1', [volume_id, now]),
  )

/** SQL: the interval between announcement and cleanup, a quarter of the time without use and at most a day. */
const noticeOf = "least(interval '1 day', auto_cleanup_s * interval '1 second' / 4)"
const lastUse = `greatest(v.last_used_at, (select max(u.until) from write.use u
                            where u.used_kind = 'volume' and u.used_id = v.volume_id))`

/** SQL: volumes that no job names and nothing uses, with the time at which they are due to be emptied. */
const unused = `
  select v.volume_id, v.owner, v.name, v.announced_at,
         ${lastUse} + v.auto_cleanup_s * interval '1 second' as cleanup_at, ${noticeOf} as notice
    from write.volume v
   where v.auto_cleanup_s is not null and coalesce(v.used_bytes, 1) > 0
     and not exists (select from write.volume_hold h where h.volume_id = v.volume_id)
     and not exists (select from write.use u
                      where u.used_kind = 'volume' and u.used_id = v.volume_id and u.until is null)`

type Unused = VolumeIdentity & { announced_at: Date | null; cleanup_at: Date }

/**
 * Announces which volumes will be emptied, and empties them when they are due. The announcement always comes first: if the server
 * was down when it was due, the cleanup is an hour later.
 */
export const volumeCleaner = reactor<object, Needed>({
  name: 'clean-volumes',
  repeat: 'local',
  every: { seconds: 600, payload: () => ({}) },
  atOnce: 1,
  perform: (_, deps) => cleanVolumes(deps),
})

export async function cleanVolumes({ pool, now, newId }: Needed): Promise<Outcome> {
  const at = now()
  const { rows: due } = await pool.query<Unused>(
    `select * from (${unused}) v where cleanup_at - notice <= $1 order by cleanup_at, volume_id limit 100`,
    [at],
  )
  return due.flatMap(({ announced_at, cleanup_at, ...identity }) => {
    const { volume_id, owner, name } = identity
    const named = { volume_id, owner, name }
    const isAnnounced = announced_at !== null && announced_at >= cleanup_at
    if (isAnnounced && announced_at > at) return []
    const stillUnused = { volume_id, at, announced_at }
    const promised = new Date(Math.max(cleanup_at.getTime(), at.getTime() + hour))
    return {
      stream: volumeAt(named).stream,
      async make(work: Work) {
        if (!(await isStillUnused(work.tx, stillUnused))) return
        await work.decide(volumeAt(named), {
          decide: before =>
            isAnnounced
              ? cleanVolume(before, named, newId('volume'))
              : announceCleanup(before, named, promised.toISOString()),
          alongside: saveVolume,
        })
      },
    }
  })
}

/** Jobs that begin to use it lock the row as well. */
async function isStillUnused(
  tx: Transaction,
  { volume_id, at, announced_at }: { volume_id: string; at: Date; announced_at: Date | null },
): Promise<boolean> {
  await tx.query('select from write.volume where volume_id = $1 for update', [volume_id])
  const { rowCount } = await tx.query(
    `select from (${unused}) v
      where volume_id = $1 and cleanup_at - notice <= $2 and announced_at is not distinct from $3`,
    [volume_id, at, announced_at],
  )
  return rowCount === 1
}

type Folder = { backend: VolumeBackend; directory: string }

/** Deletes the files of volumes that were deleted or emptied. */
export const volumeRemover = reactor<Folder, Needed>({
  name: 'remove-volume-files',
  repeat: 'ask first',
  deadlineMs: 10 * minute,
  renewMs: 20 * second,
  dutiesOf({ type, data }) {
    if (type === 'volume.deleted')
      return [{ payload: { backend: data.backend, directory: data.directory } }]
    if (type === 'volume.cleaned')
      return [{ payload: { backend: data.backend, directory: data.removed } }]
    return []
  },
  async perform({ payload }, deps) {
    const folder = folderOf(deps.volumes, payload)
    if (folder !== null) await rm(folder, { recursive: true, force: true })
    return nothing
  },
})

/** Deletes folders that belong to no volume every hour, once they are a day old. */
export const volumeSweeper = reactor<object, Needed>({
  name: 'sweep-volumes',
  repeat: 'ask first',
  every: { seconds: 3600, payload: () => ({}) },
  deadlineMs: 10 * minute,
  renewMs: 20 * second,
  atOnce: 1,
  async perform(_, deps) {
    await sweepVolumes(deps)
    return nothing
  },
})

export async function sweepVolumes({ pool, volumes, now, logger }: Needed): Promise<void> {
  const { rows: known } = await pool.query<{ directory: string }>(
    'select directory from write.volume',
  )
  const directories = new Set(known.map(({ directory }) => directory))
  const before = now().getTime() - 24 * hour
  for (const all of [volumes.local, volumes.slurm]) {
    if (all === null) continue
    for (const name of await readdir(all).catch(() => [])) {
      if (directories.has(name)) continue
      const folder = path.join(all, name)
      const found = await stat(folder).catch(() => null)
      if (found === null || found.mtimeMs >= before) continue
      await rm(folder, { recursive: true, force: true })
      logger.info({ folder }, 'the files of a volume that does not exist were deleted')
    }
  }
}
