import path from 'node:path'
import type { Pool } from 'pg'
import type { JobAdmitted } from '../../events/jobs.ts'
import { sha256Hex } from '../../platform/digest.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { VolumeBackend } from '../../schemas/volumes.ts'
import type { Transaction } from '../commit/event-store.ts'

/** Where each backend keeps its volumes; null: this installation does not have it. */
export type VolumeFolders = { local: string; slurm: string | null }

type OnDisk = { backend: VolumeBackend; directory: string }

/** The folder of a volume's files; null if this installation does not have its backend any more. */
export function folderOf(folders: VolumeFolders, { backend, directory }: OnDisk): string | null {
  const all = backend === 'kubernetes' ? null : folders[backend]
  return all === null ? null : path.join(all, directory)
}

/** A volume of the same name that is created later has the same id. */
export const volumeIdOf = (owner: string, name: string): string =>
  `vol_${sha256Hex(`${owner}\n${name}`).slice(0, 26)}`

type Names = Pick<JobAdmitted, 'owner' | 'spec'>

export const [reads, writes] = ['reads', 'writes'] as const

/** The volumes of a job, which are its owner's. */
export const volumesOf = ({ owner, spec }: Names) =>
  spec.spec.volumes.map(one => ({ ...one, volume_id: volumeIdOf(owner, one.name) }))

/** This person's volumes among these names. */
export async function volumesNamed(
  pool: Pool,
  owner: string,
  names: readonly string[],
): Promise<Map<string, { backend: VolumeBackend; read_only: boolean }>> {
  const { rows } = await pool.query<{ name: string; backend: VolumeBackend; read_only: boolean }>({
    name: 'volumes_named',
    text: 'select name, backend, read_only from write.volume where owner = $1 and name = any($2)',
    values: [owner, names],
  })
  return new Map(rows.map(row => [row.name, row]))
}

/** Keeps the volumes of new jobs from being deleted meanwhile: the deletion waits for this transaction and then sees the jobs. */
export async function holdVolumes(tx: Transaction, jobs: readonly Names[]): Promise<void> {
  const ids = [...new Set(jobs.flatMap(volumesOf).map(({ volume_id }) => volume_id))].sort()
  if (ids.length === 0) return
  const { rowCount } = await tx.query({
    name: 'hold_volumes',
    text: 'select from write.volume where volume_id = any($1) order by volume_id for share',
    values: [ids],
  })
  if (rowCount !== ids.length)
    throw new Refusal('conflict', 'A volume of the job has just been deleted; choose another one')
}

/**
 * Gives a starting run its volumes: many that read, or one that writes. False if another run or a snapshot uses one of them
 * in a way that excludes this; the lock on the volume's row decides between racing runs.
 */
export async function takeVolumes(tx: Transaction, run_id: string): Promise<boolean> {
  const { rows } = await tx.query<{ volume_id: string; read_only: boolean }>({
    name: 'volumes_to_take',
    text: `select used_id as volume_id, bool_and(used_as = '${reads}') as read_only from write.use
            where user_kind = 'run' and user_id = $1 and used_kind = 'volume' and until is null
            group by used_id order by used_id`,
    values: [run_id],
  })
  for (const one of rows) if (!(await takeVolume(tx, { ...one, holder: run_id }))) return false
  return true
}

export async function takeVolume(
  tx: Transaction,
  { volume_id, holder, read_only }: { volume_id: string; holder: string; read_only: boolean },
): Promise<boolean> {
  await tx.query('select from write.volume where volume_id = $1 for update', [volume_id])
  const { rowCount } = await tx.query({
    name: 'take_volume',
    text: `insert into write.volume_hold (volume_id, holder, read_only)
           select $1, $2, $3 where not exists (
             select from write.volume_hold
              where volume_id = $1 and holder <> $2 and not (read_only and $3))
           on conflict (volume_id, holder) do update set read_only = excluded.read_only`,
    values: [volume_id, holder, read_only],
  })
  return rowCount === 1
}

/** May be repeated. */
export async function releaseVolumes(tx: Transaction, holder: string, now: Date): Promise<void> {
  await tx.query({
    name: 'release_volumes',
    text: `with gone as (delete from write.volume_hold where holder = $1 returning volume_id)
           update write.volume v set last_used_at = greatest(v.last_used_at, $2)
             from gone where v.volume_id = gone.volume_id`,
    values: [holder, now],
  })
}

type Claim = { volume_id: string; read_only: boolean }

/**
 * The queued runs among these that have to wait for their volumes; `run_ids` are in queue order. A run also waits if one ahead of it
 * waits for the same volume and excludes it, so that readers that keep coming cannot hold up a writer forever.
 */
export async function runsAwaitingVolumes(
  pool: Pool,
  run_ids: readonly string[],
): Promise<Set<string>> {
  const { rows } = await pool.query<Claim & { run_id: string | null }>({
    name: 'claims_on_volumes',
    text: `select null as run_id, volume_id, read_only from write.volume_hold
           union all
           select u.user_id, u.used_id, bool_and(u.used_as = '${reads}') from write.use u
             join write.job_state j on j.run_id = u.user_id
            where u.used_kind = 'volume' and u.until is null and u.user_kind = 'run' and j.state = 'queued'
            group by u.user_id, u.used_id`,
  })
  const held = rows.filter(({ run_id }) => run_id === null)
  const wanted = Map.groupBy(rows, ({ run_id }) => run_id)
  return whoWaits(
    run_ids.map(run_id => ({ run_id, claims: wanted.get(run_id) ?? [] })),
    held,
  )
}

/** Pure: see `runsAwaitingVolumes`. */
export function whoWaits(
  runs: readonly { run_id: string; claims: readonly Claim[] }[],
  held: readonly Claim[],
): Set<string> {
  const ahead = [...held]
  const waiting = new Set<string>()
  for (const { run_id, claims } of runs) {
    const isExcluded = claims.some(claim => ahead.some(other => excludes(other, claim)))
    if (!isExcluded) continue
    waiting.add(run_id)
    ahead.push(...claims)
  }
  return waiting
}

const excludes = (one: Claim, other: Claim): boolean =>
  one.volume_id === other.volume_id && !(one.read_only && other.read_only)

/** A volume as an attempt gets it; the machine that runs it has the folder among the volumes of its backend. */
export type VolumeOfRun = {
  name: string
  mount_path: string
  read_only: boolean
  directory: string
  size_bytes: number
}

/** The volumes of a job that is about to start. */
export async function volumesToRun(tx: Transaction, job: Names): Promise<VolumeOfRun[]> {
  const wanted = volumesOf(job)
  if (wanted.length === 0) return []
  const { rows } = await tx.query<{
    volume_id: string
    directory: string
    read_only: boolean
    size_bytes: number
    is_full: boolean
  }>({
    name: 'volumes_to_run',
    text: `select volume_id, directory, read_only, size_gb * 1e9::float8 as size_bytes, coalesce(used_bytes >= size_gb * 1e9, false) as is_full
             from write.volume where volume_id = any($1)`,
    values: [wanted.map(({ volume_id }) => volume_id)],
  })
  return wanted.map(({ volume_id, name, mount_path, read_only }) => {
    const row = rows.find(one => one.volume_id === volume_id)
    if (!row) throw new Refusal('not_found', `The volume ${name} was deleted`)
    if (row.read_only && !read_only)
      throw new Refusal('conflict', `The volume ${name} is read-only now, and the job writes to it`)
    if (row.is_full && !read_only)
      throw new Refusal('conflict', `The volume ${name} is full: let it grow, or delete files`)
    const { directory, size_bytes } = row
    return { name, mount_path, read_only, directory, size_bytes }
  })
}
