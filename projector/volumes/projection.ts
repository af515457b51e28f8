import type { Kysely, Updateable } from 'kysely'
import type { JobEvent } from '../../events/jobs.ts'
import type { VolumeEvent } from '../../events/volumes.ts'
import type { Handlers } from '../projection.ts'
import type { VolumeTables } from './table.ts'

type Tx = Kysely<VolumeTables>

type JobsOfVolumes = Extract<
  JobEvent,
  { type: 'job.admitted' | 'job.succeeded' | 'job.failed' | 'job.stopped' }
>

export const volumeProjection: Handlers<VolumeTables, VolumeEvent | JobsOfVolumes> = {
  'volume.created': (tx, { data, occurred_at }) =>
    tx
      .insertInto('volumes')
      .values({
        ...data,
        ...{ used_bytes: null, measured_at: null },
        ...{ last_used_at: occurred_at, created_at: occurred_at },
      })
      .execute(),
  'volume.grown': (tx, { data: { volume_id, size_gb } }) => update(tx, volume_id, { size_gb }),
  'volume.changed': (tx, { data: { volume_id, read_only, auto_cleanup_s } }) =>
    update(tx, volume_id, { read_only, auto_cleanup_s }),
  'volume.measured': (tx, { data: { volume_id, used_bytes }, occurred_at }) =>
    update(tx, volume_id, { used_bytes, measured_at: occurred_at }),
  'volume.cleanup_announced': async () => {},
  'volume.cleaned': (tx, { data: { volume_id, directory }, occurred_at }) =>
    update(tx, volume_id, { directory, used_bytes: 0, measured_at: occurred_at }),
  'volume.snapshot_requested': (tx, { data, occurred_at }) => {
    const { snapshot_id, volume_id, owner, path, dataset, requested_by } = data
    return tx
      .insertInto('volume_snapshots')
      .values({
        ...{ snapshot_id, volume_id, owner, path, dataset, requested_by },
        ...{ state: 'running', ref: null, error: null, requested_at: occurred_at },
      })
      .execute()
  },
  'volume.snapshot_ready': (tx, { data: { snapshot_id, ref } }) =>
    tx
      .updateTable('volume_snapshots')
      .set({ state: 'ready', ref })
      .where('snapshot_id', '=', snapshot_id)
      .execute(),
  'volume.snapshot_failed': (tx, { data: { snapshot_id, reason } }) =>
    tx
      .updateTable('volume_snapshots')
      .set({ state: 'failed', error: reason })
      .where('snapshot_id', '=', snapshot_id)
      .execute(),
  'volume.deleted': async (tx, { data: { volume_id } }) => {
    await tx.deleteFrom('volume_snapshots').where('volume_id', '=', volume_id).execute()
    await tx.deleteFrom('volumes').where('volume_id', '=', volume_id).execute()
  },
  'job.admitted': async (tx, { data: { run_id, short_id, owner, spec }, occurred_at }) => {
    const { volumes } = spec.spec
    for (const { name, mount_path, read_only } of volumes) {
      const volume = await tx
        .selectFrom('volumes')
        .select('volume_id')
        .where('owner', '=', owner)
        .where('name', '=', name)
        .executeTakeFirst()
      if (!volume) continue
      const { volume_id } = volume
      await tx
        .insertInto('volume_uses')
        .values({ volume_id, run_id, owner, short_id, mount_path, read_only, since: occurred_at })
        .onConflict(on => on.doNothing())
        .execute()
      await update(tx, volume_id, { last_used_at: occurred_at })
    }
  },
  'job.succeeded': (tx, { data, occurred_at }) => endUses(tx, data.run_id, occurred_at),
  'job.failed': (tx, { data, occurred_at }) => endUses(tx, data.run_id, occurred_at),
  'job.stopped': (tx, { data, occurred_at }) => endUses(tx, data.run_id, occurred_at),
}

async function endUses(tx: Tx, run_id: string, last_used_at: string): Promise<void> {
  const ended = await tx
    .deleteFrom('volume_uses')
    .where('run_id', '=', run_id)
    .returning('volume_id')
    .execute()
  for (const { volume_id } of ended) await update(tx, volume_id, { last_used_at })
}

const update = (tx: Tx, volume_id: string, to: Updateable<VolumeTables['volumes']>) =>
  tx.updateTable('volumes').set(to).where('volume_id', '=', volume_id).execute()
