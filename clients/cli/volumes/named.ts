import type { VolumeRow } from '../../../schemas/volumes.ts'
import { type Api, segment } from '../api/client.ts'
import { usageFailure } from '../program/failure.ts'

export const path = '/api/volumes'
export const oneVolume = { '<volume>': 'its name, OWNER/NAME, or its ID' }

/** The path of a volume that is named by its id, its name, or its owner and name. */
export async function pathOfVolume(api: Api, named = ''): Promise<string> {
  if (/^vol_[0-9a-f]{26}$/.test(named)) return `${path}/${segment(named)}`
  const [first = '', second] = named.split('/')
  const wanted = second === undefined ? { name: first } : { owner: first, name: second }
  const found = await api.get<VolumeRow[]>(path, wanted)
  const [only] = found
  if (only === undefined || found.length > 1)
    throw usageFailure(
      only === undefined
        ? `No such volume: ${named} (forge volume ls)`
        : `Several people have a volume named ${named}; give OWNER/NAME`,
    )
  return `${path}/${segment(only.volume_id)}`
}
