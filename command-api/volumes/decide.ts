import type { Volume, VolumeEvent, VolumeIdentity } from '../../events/volumes.ts'
import { Refusal } from '../../platform/refusal.ts'
import { Invalid } from '../../schemas/validate.ts'
import type { VolumePatch } from '../../schemas/volumes.ts'

type Data<T extends VolumeEvent['type']> = Extract<VolumeEvent, { type: T }>['data']

export function createVolume(before: Volume, data: Data<'volume.created'>): VolumeEvent[] {
  if (before)
    throw new Refusal('conflict', `You already have a volume named ${data.name}`, {
      code: 'volume.exists',
      data: { volume_id: data.volume_id },
    })
  return [{ type: 'volume.created', data }]
}

export function growVolume(before: Volume, named: VolumeIdentity, size_gb: number): VolumeEvent[] {
  const { size_gb: now } = existing(before, named)
  if (size_gb < now)
    throw new Invalid([
      {
        ...{ loc: ['body', 'size_gb'], type: 'value_error', input: size_gb },
        msg: `Value error, a volume cannot shrink: it has ${now} GB`,
      },
    ])
  return size_gb === now ? [] : [{ type: 'volume.grown', data: { ...named, size_gb } }]
}

export function changeVolume(
  before: Volume,
  named: VolumeIdentity,
  patch: VolumePatch,
): VolumeEvent[] {
  const { read_only, auto_cleanup_s } = existing(before, named)
  const next = { read_only, auto_cleanup_s, ...patch }
  const isSame = next.read_only === read_only && next.auto_cleanup_s === auto_cleanup_s
  return isSame ? [] : [{ type: 'volume.changed', data: { ...named, ...next } }]
}

/** `directory`: the folder that was measured. */
export function measureVolume(
  before: Volume,
  named: VolumeIdentity,
  { directory, used_bytes }: { directory: string; used_bytes: number },
): VolumeEvent[] {
  const isNews = before?.directory === directory && before.used_bytes !== used_bytes
  return isNews ? [{ type: 'volume.measured', data: { ...named, used_bytes } }] : []
}

export const announceCleanup = (
  before: Volume,
  named: VolumeIdentity,
  cleanup_at: string,
): VolumeEvent[] =>
  before ? [{ type: 'volume.cleanup_announced', data: { ...named, cleanup_at } }] : []

export function cleanVolume(
  before: Volume,
  named: VolumeIdentity,
  directory: string,
): VolumeEvent[] {
  if (before === null || before.auto_cleanup_s === null) return []
  const { backend, directory: removed } = before
  return [{ type: 'volume.cleaned', data: { ...named, backend, directory, removed } }]
}

/** Snapshots of one volume at once. */
const maxSnapshots = 4

export function requestSnapshot(
  before: Volume,
  data: Data<'volume.snapshot_requested'>,
): VolumeEvent[] {
  if (existing(before, data).snapshots.length >= maxSnapshots)
    throw new Refusal(
      'conflict',
      `${maxSnapshots} snapshots of the volume ${data.name} are under way; wait until one has ended`,
      { code: 'volume.too_many_snapshots' },
    )
  return [{ type: 'volume.snapshot_requested', data }]
}

const isUnderWay = (before: Volume, { snapshot_id }: { snapshot_id: string }) =>
  before?.snapshots.includes(snapshot_id) ?? false

export const finishSnapshot = (
  before: Volume,
  data: Data<'volume.snapshot_ready'>,
): VolumeEvent[] => (isUnderWay(before, data) ? [{ type: 'volume.snapshot_ready', data }] : [])

export const failSnapshot = (
  before: Volume,
  data: Data<'volume.snapshot_failed'>,
): VolumeEvent[] => (isUnderWay(before, data) ? [{ type: 'volume.snapshot_failed', data }] : [])

export function deleteVolume(before: Volume, named: VolumeIdentity): VolumeEvent[] {
  const { backend, directory } = existing(before, named)
  return [{ type: 'volume.deleted', data: { ...named, backend, directory } }]
}

export function existing(before: Volume, { volume_id }: Pick<VolumeIdentity, 'volume_id'>) {
  if (!before) throw noSuchVolume(volume_id)
  return before
}

export const noSuchVolume = (volume_id: string) =>
  new Refusal('not_found', `No such volume: ${volume_id}`)
