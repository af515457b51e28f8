import type { Static } from 'typebox'
import type { VolumeRow, volumeDetail, volumeFiles } from '../../../../../schemas/volumes.ts'

export type Volume = VolumeRow
export type Detail = Static<typeof volumeDetail>
export type Files = Static<typeof volumeFiles>
export type Entry = Files['entries'][number]

export const list = '/api/volumes'
export const pathOf = ({ volume_id }: { volume_id: string }): string =>
  `${list}/${encodeURIComponent(volume_id)}`

export const bytesPerGb = 1e9
