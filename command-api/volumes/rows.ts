import type { Pool } from 'pg'
import type { VolumeEvent, VolumeIdentity } from '../../events/volumes.ts'
import { Refusal } from '../../platform/refusal.ts'
import { maxVolumes, type VolumeBackend } from '../../schemas/volumes.ts'
import type { Transaction } from '../commit/event-store.ts'
import { releaseVolumes } from '../rules/volumes.ts'
import { noSuchVolume } from './decide.ts'

export type VolumeOnDisk = VolumeIdentity & { backend: VolumeBackend; directory: string }

const identity = 'volume_id, owner, name'

/** A volume that this person may change: their own, and for admins any. */
export async function findVolume(
  db: Pool | Transaction,
  volume_id: string,
  { username, role }: { username: string; role: string },
): Promise<VolumeIdentity> {
  const { rows } = await db.query<VolumeIdentity>({
    name: 'find_volume',
    text: `select ${identity} from write.volume where volume_id = $1 and (owner = $2 or $3)`,
    values: [volume_id, username, role === 'admin'],
  })
  if (!rows[0]) throw noSuchVolume(volume_id)
  return rows[0]
}

export async function volumeOnDisk(pool: Pool, volume_id: string): Promise<VolumeOnDisk | null> {
  const { rows } = await pool.query<VolumeOnDisk>(
    `select ${identity}, backend, directory from write.volume where volume_id = $1`,
    [volume_id],
  )
  return rows[0] ?? null
}

type Changed = { events: readonly VolumeEvent[]; now: Date }

/** Writes the rows that other rules read. */
export async function saveVolume(tx: Transaction, { events, now }: Changed): Promise<void> {
  for (const event of events) await saveEvent(tx, event, now)
}

async function saveEvent(tx: Transaction, { type, data }: VolumeEvent, now: Date): Promise<void> {
  const { volume_id, owner } = data
  switch (type) {
    case 'volume.created':
      await tx.query(
        `insert into write.volume (volume_id, owner, name, size_gb, backend, read_only, auto_cleanup_s, directory, last_used_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
        [
          ...[volume_id, owner, data.name, data.size_gb, data.backend, data.read_only],
          ...[data.auto_cleanup_s, data.directory, now],
        ],
      )
      await refuseTooMany(tx, owner)
      break
    case 'volume.grown':
      await set(tx, 'size_gb = $2', [volume_id, data.size_gb])
      break
    case 'volume.changed':
      await set(tx, 'read_only = $2, auto_cleanup_s = $3, announced_at = null', [
        ...[volume_id, data.read_only, data.auto_cleanup_s],
      ])
      break
    case 'volume.measured':
      await set(tx, 'used_bytes = $2', [volume_id, data.used_bytes])
      break
    case 'volume.cleanup_announced':
      await set(tx, 'announced_at = $2', [volume_id, data.cleanup_at])
      break
    case 'volume.cleaned':
      await set(tx, 'directory = $2, used_bytes = 0, announced_at = null', [
        ...[volume_id, data.directory],
      ])
      break
    case 'volume.snapshot_requested':
      break
    case 'volume.snapshot_ready':
    case 'volume.snapshot_failed':
      await releaseVolumes(tx, data.snapshot_id, now)
      break
    case 'volume.deleted':
      await tx.query('delete from write.volume where volume_id = $1', [volume_id])
  }
}

const set = (tx: Transaction, change: string, values: readonly unknown[]) =>
  tx.query(`update write.volume set ${change} where volume_id = $1`, [...values])

async function refuseTooMany(tx: Transaction, owner: string): Promise<void> {
  const { rows } = await tx.query<{ count: number }>(
    'select count(*)::int as count from write.volume where owner = $1',
    [owner],
  )
  if ((rows[0]?.count ?? 0) > maxVolumes)
    throw new Refusal(
      'conflict',
      `You have ${maxVolumes} volumes, the most that a person may have; delete one first`,
      { code: 'volume.too_many' },
    )
}

export type RunOfVolume = { run_id: string; short_id: string }

/** How many runs a refusal names. */
const named = 100

/** Jobs that have not ended and name the volume, and runs whose attempt still has it. All are its owner's. */
export async function runsOfVolume(
  db: Pool | Transaction,
  volume_id: string,
): Promise<RunOfVolume[]> {
  const { rows } = await db.query<RunOfVolume>({
    name: 'runs_of_volume',
    text: `select r.id as run_id, coalesce(r.name, r.id) as short_id from write.resource r
            where r.kind = 'run' and r.id in (
              select user_id from write.use
               where used_kind = 'volume' and used_id = $1 and user_kind = 'run' and until is null
              union all select holder from write.volume_hold where volume_id = $1)
            order by r.id limit $2`,
    values: [volume_id, named],
  })
  return rows
}
