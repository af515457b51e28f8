import type { Kysely, Selectable } from 'kysely'
import type { Route } from '../../auth/route.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { VolumeTables } from '../../projector/volumes/table.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { volumeDetail, volumeListQuery, volumePath, volumeRow } from '../../schemas/volumes.ts'
import { list, one } from '../reading/list.ts'
import { asCaller, type Reads } from '../reading/reads.ts'

export type Tables = VolumeTables

/** Snapshots that a volume shows. */
const shownSnapshots = 50

export const volumeRoutes = (reads: Reads<Tables>): Route[] => [
  list({
    ...asCaller(reads),
    path: '/api/volumes',
    tag: 'volumes',
    summary: 'List one’s own volumes by name; admins see those of everybody',
    query: volumeListQuery,
    row: volumeRow,
    matching: ({ db }, { caller, query: { owner, name } }) =>
      db
        .selectFrom('volumes')
        .$if(caller.role !== 'admin', found => found.where('owner', '=', caller.username))
        .$if(owner !== undefined, found => found.where('owner', '=', owner ?? ''))
        .$if(name !== undefined, found => found.where('name', '=', name ?? '')),
    select: found => found.selectAll().orderBy('owner').orderBy('name').orderBy('volume_id'),
    shape: (rows, { db }) => withUses(db, rows),
  }),
  one({
    ...asCaller(reads),
    path: '/api/volumes/{volume_id}',
    reach: 'its_people',
    tag: 'volumes',
    summary: 'Read a volume, with the jobs that name it and its last snapshots',
    params: volumePath,
    refusals: ['not_found'],
    response: volumeDetail,
    async read({ db }, { caller, params: { volume_id } }) {
      const row = await findVolume(db, volume_id, caller)
      const [shown] = await withUses(db, [row])
      if (!shown) throw noSuchVolume(volume_id)
      const snapshots = await db
        .selectFrom('volume_snapshots')
        .selectAll()
        .where('volume_id', '=', volume_id)
        .orderBy('requested_at', 'desc')
        .orderBy('snapshot_id', 'desc')
        .limit(shownSnapshots)
        .execute()
      return {
        ...shown,
        snapshots: snapshots.map(({ volume_id: _, owner: __, requested_at, ...snapshot }) => ({
          ...snapshot,
          requested_at: toTimestamp(requested_at),
        })),
      }
    },
  }),
]

type Caller = { username: string; role: string }

export const noSuchVolume = (volume_id: string) =>
  new Refusal('not_found', `No such volume: ${volume_id}`)

/** For its owner and admins. */
export async function findVolume(db: Kysely<Tables>, volume_id: string, caller: Caller) {
  const row = await db
    .selectFrom('volumes')
    .selectAll()
    .where('volume_id', '=', volume_id)
    .$if(caller.role !== 'admin', found => found.where('owner', '=', caller.username))
    .executeTakeFirst()
  if (!row) throw noSuchVolume(volume_id)
  return row
}

async function withUses(db: Kysely<Tables>, rows: readonly Selectable<Tables['volumes']>[]) {
  const ids = rows.map(({ volume_id }) => volume_id)
  const uses =
    ids.length === 0
      ? []
      : await db
          .selectFrom('volume_uses')
          .selectAll()
          .where('volume_id', 'in', ids)
          .orderBy('since')
          .orderBy('run_id')
          .orderBy('mount_path')
          .execute()
  return rows.map(({ directory: _, measured_at, last_used_at, created_at, ...row }) => {
    const attached_to = uses
      .filter(({ volume_id }) => volume_id === row.volume_id)
      .map(({ run_id, short_id, mount_path, read_only, since }) => ({
        ...{ run_id, short_id, mount_path, read_only, since: toTimestamp(since) },
      }))
    const isAttached = attached_to.length > 0
    const { auto_cleanup_s } = row
    return {
      ...row,
      state: isAttached ? ('attached' as const) : ('active' as const),
      attached_to,
      measured_at: measured_at && toTimestamp(measured_at),
      last_used_at: toTimestamp(last_used_at),
      cleanup_at:
        auto_cleanup_s === null || isAttached
          ? null
          : toTimestamp(new Date(last_used_at.getTime() + auto_cleanup_s * 1000)),
      created_at: toTimestamp(created_at),
    }
  })
}
