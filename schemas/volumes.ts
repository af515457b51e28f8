import { type Static, Type } from 'typebox'
import { closed, nullable, oneOf, pageQuery, timestamp } from './shared.ts'

/** `kubernetes`: reserved for claims, which do not exist yet. */
export const volumeBackends = ['local', 'slurm', 'kubernetes'] as const
export type VolumeBackend = (typeof volumeBackends)[number]

export const volumeStates = ['active', 'attached'] as const

/** Volumes of one person. */
export const maxVolumes = 200

const volumeId = () => Type.String({ minLength: 1, maxLength: 128 })
const name = () =>
  Type.String({ minLength: 1, maxLength: 128, pattern: '^[a-zA-Z0-9][a-zA-Z0-9_.-]*$' })
const sizeGb = () => Type.Integer({ minimum: 1, maximum: 1_000_000 })
/** An hour at least, so that a pause between two jobs does not empty a volume. */
const cleanup = () => nullable(Type.Integer({ minimum: 3600, maximum: 31_536_000 }))
/** Relative to the volume. */
const pathInside = (minLength: 0 | 1) =>
  Type.String({ minLength, maxLength: 4096, pattern: '^[^\\u0000]*$' })

/** The body of `POST /api/volumes`. */
export const volumeInput = closed({
  name: name(),
  size_gb: sizeGb(),
  backend: Type.Optional(oneOf(...volumeBackends)),
  /** Whether jobs may only read it. */
  read_only: Type.Optional(Type.Boolean()),
  /** Seconds without a job after which its files are deleted; null: never. */
  auto_cleanup_s: Type.Optional(cleanup()),
})

/** The body of `PATCH /api/volumes/{volume_id}`; absent fields keep their value. */
export const volumePatch = closed({
  read_only: Type.Optional(Type.Boolean()),
  auto_cleanup_s: Type.Optional(cleanup()),
})
export type VolumePatch = Static<typeof volumePatch>

export const volumeGrowth = closed({ size_gb: sizeGb() })

export const volumePath = Type.Object({ volume_id: volumeId() })

export const volumeListQuery = closed({
  ...pageQuery,
  owner: Type.Optional(Type.String({ maxLength: 128 })),
  name: Type.Optional(Type.String({ maxLength: 128 })),
})

/** The settings of a volume, as recorded. */
export const volumeSettings = {
  size_gb: Type.Integer({ minimum: 1 }),
  backend: oneOf(...volumeBackends),
  read_only: Type.Boolean(),
  auto_cleanup_s: nullable(Type.Integer({ minimum: 1 })),
}

export const volumeSaved = Type.Object({
  volume_id: Type.String(),
  name: Type.String(),
  owner: Type.String(),
  ...volumeSettings,
  changed: Type.Boolean(),
})

/** A job that has not ended and names the volume. */
const attached = Type.Object({
  run_id: Type.String(),
  short_id: Type.String(),
  mount_path: Type.String(),
  read_only: Type.Boolean(),
  since: timestamp(),
})

export const volumeRow = Type.Object({
  volume_id: Type.String(),
  name: Type.String(),
  owner: Type.String(),
  /** `attached`: at least one job that has not ended names it. */
  state: oneOf(...volumeStates),
  ...volumeSettings,
  /** As last measured; null before the first time. */
  used_bytes: nullable(Type.Integer({ minimum: 0 })),
  measured_at: nullable(timestamp()),
  attached_to: Type.Array(attached),
  last_used_at: timestamp(),
  /** When its files will be deleted if no job uses it before; null: never, or a job uses it now. */
  cleanup_at: nullable(timestamp()),
  created_at: timestamp(),
})
export type VolumeRow = Static<typeof volumeRow>

export const snapshotStates = ['running', 'ready', 'failed'] as const

const snapshot = Type.Object({
  snapshot_id: Type.String(),
  path: Type.String(),
  dataset: Type.String(),
  state: oneOf(...snapshotStates),
  /** The version that it became; null until it is ready. */
  ref: nullable(Type.String()),
  error: nullable(Type.String()),
  requested_by: Type.String(),
  requested_at: timestamp(),
})

/** With its last snapshots, the newest first. */
export const volumeDetail = Type.Object({
  ...volumeRow.properties,
  snapshots: Type.Array(snapshot),
})

/** `dry_run`: only names the jobs that keep it from being deleted. */
export const volumeDeletionQuery = closed({ dry_run: Type.Optional(Type.Boolean()) })

export const volumeDeleted = Type.Object({
  volume_id: Type.String(),
  deleted: Type.Boolean(),
  /** Jobs that have not ended and name it. */
  would_break: Type.Array(Type.Object({ run_id: Type.String(), short_id: Type.String() })),
})

/** The body of `POST /api/volumes/{volume_id}/snapshots`. `path`: a file or folder; the whole volume if absent. */
export const volumeSnapshotInput = closed({
  path: Type.Optional(pathInside(0)),
  dataset: Type.String({
    maxLength: 257,
    pattern: '^[^/@]{1,128}/[a-zA-Z0-9][a-zA-Z0-9_.-]{0,127}$',
  }),
})

export const volumeSnapshotStarted = Type.Object({
  volume_id: Type.String(),
  snapshot_id: Type.String(),
  path: Type.String(),
  dataset: Type.String(),
})

/** `after`: the last name of the page before. */
export const volumeFilesQuery = closed({
  path: Type.Optional(pathInside(0)),
  after: Type.Optional(Type.String({ maxLength: 1024 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 100 })),
})

export const fileKinds = ['file', 'folder', 'link', 'other'] as const

export const volumeFiles = Type.Object({
  path: Type.String(),
  entries: Type.Array(
    Type.Object({
      name: Type.String(),
      kind: oneOf(...fileKinds),
      size_bytes: Type.Integer({ minimum: 0 }),
      modified_at: timestamp(),
    }),
  ),
  /** For `after` of the next page; null at the end. */
  next: nullable(Type.String()),
})

export const volumeContentQuery = closed({ path: pathInside(1) })
