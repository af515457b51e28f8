import type { Static } from 'typebox'
import type { volumeSaved } from '../../../schemas/volumes.ts'
import { describe } from '../program/describe.ts'
import { usageFailure } from '../program/failure.ts'
import { request } from '../program/request.ts'
import type { CommonOptions, Flags, Texts } from '../program/session.ts'
import { oneVolume, path, pathOfVolume } from './named.ts'

type Saved = Static<typeof volumeSaved>

export const describeVolumeCreate = describe({
  text: 'create a volume, which your jobs mount by its name (spec.volumes)',
  operands: { '<name>': 'its name, unique among your volumes' },
  options: {
    '--size-gb <n>': 'how much it is meant to hold; counts for your storage quota',
    '--backend <name>': 'local (default) or slurm: where the jobs run',
    '--read-only': 'jobs may only read it',
    '--cleanup-after <time>': 'delete its files after this time without a job: 12h, 7d',
  },
  after: `
Example:
  forge volume create hub-cache --size-gb 100 --cleanup-after 14d`,
})

type CreateOptions = CommonOptions &
  Texts<'sizeGb' | 'backend' | 'cleanupAfter'> &
  Flags<'readOnly'>

export const volumeCreate = request<Saved, CreateOptions>({
  send: ({ api }, { sizeGb, backend, readOnly, cleanupAfter }, name) =>
    api.post<Saved>(
      path,
      {
        name,
        size_gb: gigabytesOf(sizeGb),
        ...(backend !== undefined && { backend }),
        ...(readOnly && { read_only: true }),
        ...(cleanupAfter !== undefined && { auto_cleanup_s: secondsOf(cleanupAfter) }),
      },
      { creates: true },
    ),
  data: ({ volume_id, name, size_gb, backend }) =>
    `${volume_id}  ${name}  ${size_gb} GB  ${backend}`,
})

export const describeVolumeGrow = describe({
  text: 'let a volume grow; runs that use it go on',
  operands: oneVolume,
  options: { '--size-gb <n>': 'its new size' },
})

export const volumeGrow = request<Saved, CommonOptions & Texts<'sizeGb'>>({
  send: async ({ api }, { sizeGb }, named) =>
    api.post<Saved>(`${await pathOfVolume(api, named)}/grow`, { size_gb: gigabytesOf(sizeGb) }),
  note: ({ name, size_gb, changed }) =>
    changed ? `${name} may hold ${size_gb} GB now` : `${name} has ${size_gb} GB already`,
})

function gigabytesOf(text: string | undefined): number {
  if (text === undefined || !/^[1-9]\d{0,6}$/.test(text))
    throw usageFailure('--size-gb: give a whole number of GB')
  return Number(text)
}

const seconds = { h: 3600, d: 86_400 }

function secondsOf(text: string): number {
  const [, count, unit] = /^(\d{1,5})([hd])$/.exec(text) ?? []
  if (!count || !unit) throw usageFailure(`--cleanup-after ${text}: give hours or days: 12h, 7d`)
  return Number(count) * seconds[unit as keyof typeof seconds]
}
