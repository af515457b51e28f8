import type { Person } from '../../auth/caller.ts'
import type { Reads } from '../reading/reads.ts'
import type { Tables } from './routes.ts'

export type VolumeOfVersion = { volume_id: string; name: string; path: string }

/** The volume whose snapshot became this version (`owner/name@n`); null if the caller may not see one. */
export async function volumeOfVersion(
  reads: Reads<Tables>,
  caller: Person,
  ref: string,
): Promise<VolumeOfVersion | null> {
  const found = await reads
    .as(caller)
    .selectFrom('volume_snapshots as s')
    .innerJoin('volumes as v', 'v.volume_id', 's.volume_id')
    .select(['v.volume_id', 'v.name', 's.path'])
    .where('s.ref', '=', ref)
    .limit(1)
    .executeTakeFirst()
  return found ?? null
}
