import { type Static, Type } from 'typebox'
import { volumeSettings } from '../schemas/volumes.ts'
import { aggregate, type EventOf, event } from './event.ts'

const identity = { volume_id: Type.String(), owner: Type.String(), name: Type.String() }
const { backend, size_gb, read_only, auto_cleanup_s } = volumeSettings
/** The folder of its files, below the volumes of its backend; a new one each time the files are deleted. */
const directory = Type.String()
const snapshotNamed = { ...identity, snapshot_id: Type.String() }

/** A person has a volume of this name from now on; it is empty. */
export const volumeCreated = event(
  'volume.created',
  Type.Object({ ...identity, ...volumeSettings, directory }),
  ({ owner, name, size_gb, backend }, who) =>
    `${who} created the volume ${owner}/${name}: ${size_gb} GB, ${backend}`,
)

/** A volume may hold more from now on. */
export const volumeGrown = event(
  'volume.grown',
  Type.Object({ ...identity, size_gb }),
  ({ owner, name, size_gb }, who) => `${who} let the volume ${owner}/${name} grow to ${size_gb} GB`,
)

/** The other settings of a volume, as a whole. */
export const volumeChanged = event(
  'volume.changed',
  Type.Object({ ...identity, read_only, auto_cleanup_s }),
  ({ owner, name, read_only, auto_cleanup_s }, who) =>
    `${who} changed the volume ${owner}/${name}: ${read_only ? 'read-only' : 'writable'}, ${auto_cleanup_s === null ? 'kept' : `emptied after ${auto_cleanup_s} s without use`}`,
)

/** The files of a volume were measured, and their size has changed. */
export const volumeMeasured = event(
  'volume.measured',
  Type.Object({ ...identity, used_bytes: Type.Integer({ minimum: 0 }) }),
  ({ owner, name, used_bytes }, who) =>
    `${who} measured the volume ${owner}/${name}: ${used_bytes} bytes`,
)

/** The files of a volume will be deleted at this time, unless a job uses it before. */
export const volumeCleanupAnnounced = event(
  'volume.cleanup_announced',
  Type.Object({ ...identity, cleanup_at: Type.String() }),
  ({ owner, name, cleanup_at }, who) =>
    `${who} announced that the files of the volume ${owner}/${name} will be deleted at ${cleanup_at}`,
)

/** A volume was not used for long, and is empty again. `removed`: the folder of the files it had. */
export const volumeCleaned = event(
  'volume.cleaned',
  Type.Object({ ...identity, backend, directory, removed: Type.String() }),
  ({ owner, name }, who) =>
    `${who} deleted the files of the volume ${owner}/${name}, which no job had used for long`,
)

/** A person asked to make files of a volume a version of a dataset. */
export const volumeSnapshotRequested = event(
  'volume.snapshot_requested',
  Type.Object({
    ...snapshotNamed,
    path: Type.String(),
    dataset: Type.String(),
    requested_by: Type.String(),
  }),
  ({ owner, name, path, dataset }, who) =>
    `${who} began a snapshot of ${path || 'all files'} of the volume ${owner}/${name} for the dataset ${dataset}`,
)

/** Files of a volume became a version of a dataset; `created` is false if its newest version had the same files. */
export const volumeSnapshotReady = event(
  'volume.snapshot_ready',
  Type.Object({ ...snapshotNamed, ref: Type.String(), created: Type.Boolean() }),
  ({ owner, name, ref, created }, who) =>
    `${who} ${created ? `made files of the volume ${owner}/${name} the dataset ${ref}` : `found that the dataset ${ref} already has these files of the volume ${owner}/${name}`}`,
)

/** A snapshot ended without a version. */
export const volumeSnapshotFailed = event(
  'volume.snapshot_failed',
  Type.Object({ ...snapshotNamed, reason: Type.String() }),
  ({ owner, name, reason }, who) =>
    `${who} could not make a snapshot of the volume ${owner}/${name}: ${reason}`,
)

/** A volume was deleted with its files. */
export const volumeDeleted = event(
  'volume.deleted',
  Type.Object({ ...identity, backend, directory }),
  ({ owner, name }, who) => `${who} deleted the volume ${owner}/${name} with its files`,
)

const events = [
  volumeCreated,
  volumeGrown,
  volumeChanged,
  volumeMeasured,
  volumeCleanupAnnounced,
  volumeCleaned,
  volumeSnapshotRequested,
  volumeSnapshotReady,
  volumeSnapshotFailed,
  volumeDeleted,
] as const
export type VolumeEvent = EventOf<(typeof events)[number]>

export type VolumeIdentity = Pick<Static<typeof volumeCreated.data>, 'volume_id' | 'owner' | 'name'>

/** Null before it is created, and after it is deleted. `snapshots`: those under way. */
export type Volume =
  | (Static<typeof volumeCreated.data> & {
      used_bytes: number | null
      snapshots: readonly string[]
    })
  | null

function evolve(before: Volume, event: VolumeEvent): Volume {
  if (event.type === 'volume.created') return { ...event.data, used_bytes: null, snapshots: [] }
  return before && evolveExisting(before, event)
}

function evolveExisting(
  before: NonNullable<Volume>,
  { type, data }: Exclude<VolumeEvent, { type: 'volume.created' }>,
): Volume {
  switch (type) {
    case 'volume.grown':
      return { ...before, size_gb: data.size_gb }
    case 'volume.changed':
      return { ...before, read_only: data.read_only, auto_cleanup_s: data.auto_cleanup_s }
    case 'volume.measured':
      return { ...before, used_bytes: data.used_bytes }
    case 'volume.cleanup_announced':
      return before
    case 'volume.cleaned':
      return { ...before, directory: data.directory, used_bytes: 0 }
    case 'volume.snapshot_requested':
      return { ...before, snapshots: [...before.snapshots, data.snapshot_id] }
    case 'volume.snapshot_ready':
    case 'volume.snapshot_failed':
      return { ...before, snapshots: before.snapshots.filter(id => id !== data.snapshot_id) }
    case 'volume.deleted':
      return null
  }
}

export const volumes = aggregate('volume', {
  events,
  initial: null,
  evolve,
  snapshot: { shape: 1 },
})

export const volumeAt = ({ volume_id }: { volume_id: string }) => volumes.at(volume_id)
