import type { ColumnType } from 'kysely'
import type { snapshotStates, VolumeBackend } from '../../schemas/volumes.ts'

type Written = ColumnType<Date, string, string>

export type VolumeTables = {
  volumes: {
    volume_id: string
    owner: string
    name: string
    size_gb: number
    backend: VolumeBackend
    read_only: boolean
    auto_cleanup_s: number | null
    /** The folder of its files, below the volumes of its backend. */
    directory: string
    used_bytes: number | null
    measured_at: ColumnType<Date | null, string | null, string | null>
    last_used_at: Written
    created_at: Written
  }
  volume_uses: {
    volume_id: string
    run_id: string
    owner: string
    short_id: string
    mount_path: string
    read_only: boolean
    since: Written
  }
  volume_snapshots: {
    snapshot_id: string
    volume_id: string
    owner: string
    path: string
    dataset: string
    state: (typeof snapshotStates)[number]
    ref: string | null
    error: string | null
    requested_by: string
    requested_at: Written
  }
}
