import type { ObjectStore } from '../../platform/objects/port.ts'
import { takeLocks } from '../commit/stream-locks.ts'
import type { Deps } from '../deps.ts'
import { nothing } from '../effects/outcome.ts'
import { reactor } from '../effects/reactor.ts'
import { contentLock } from '../rules/content-lock.ts'
import { isOfModel, partsOfImports } from '../rules/imported-models.ts'
import { uploadOf } from './parts.ts'
import { allStores } from './stores.ts'

type Needed = Pick<Deps, 'pool' | 'store' | 'uploads' | 'artifacts' | 'now' | 'config' | 'logger'>

const hourMs = 3_600_000
/** How long an upload may stay unregistered, and a registered one unused. */
const unregisteredMs = 24 * hourMs

/**
 * Deletes uploads every hour: unregistered ones after a day, and registered ones that nothing has used within a day
 * (`write.use`, which the kinds of all slices fill), where a job counts as using its package until the files of its run are
 * due. Then it deletes files that belong neither to an upload nor to a model that was imported.
 */
export const uploadReactor = reactor<object, Needed>({
  name: 'uploads',
  repeat: 'ask first',
  every: { seconds: 3600, payload: () => ({}) },
  deadlineMs: 600_000,
  atOnce: 1,
  async perform(_, deps) {
    await deleteUnused(deps)
    return nothing
  },
})

export async function deleteUnused(deps: Needed): Promise<void> {
  const { pool, now: clock, config, logger } = deps
  const now = clock().getTime()
  const { rows } = await pool.query<{ uploads: number }>(deleteRows, [
    new Date(now - unregisteredMs),
    new Date(now - config.runDirDays * 24 * hourMs),
    config.runDirDays > 0,
  ])
  const { uploads = 0 } = rows[0] ?? {}
  if (uploads > 0) logger.info({ uploads }, 'uploads that nobody needs were deleted')
  for (const files of allStores(deps)) await tidy(deps, files, new Date(now - hourMs))
}

async function tidy(deps: Needed, files: ObjectStore, debrisBefore: Date): Promise<void> {
  const { parts, contents } = await files.list()
  const known = await pendingAmong(deps, parts.map(uploadOf))
  const imported = await partsOfImports(deps.pool, parts)
  for (const id of parts)
    if (!known.has(uploadOf(id)) && !imported.has(id)) await files.removePart(id)
  for (const sha256 of contents) await deleteContentOfNobody(deps, files, sha256)
  await files.removeDebris(debrisBefore)
}

const deleteRows = `
  with gone as (
    delete from write.upload u
     where case
       when completed_at is null then created_at < $1
       when used_at >= $1 then false
       else not exists (
         select from write.use
          where used_kind = 'upload' and used_id = u.upload_id
            and (until is null or (used_as = 'package' and (until >= $2 or not $3)))) end
    returning upload_id),
  unknown as (delete from write.resource r using gone where r.kind = 'upload' and r.id = gone.upload_id),
  unused as (delete from write.use u using gone where u.used_kind = 'upload' and u.used_id = gone.upload_id)
  select count(*)::int as uploads from gone`

async function pendingAmong({ pool }: Needed, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await pool.query<{ upload_id: string }>(
    'select upload_id from write.upload where upload_id = any($1) and completed_at is null',
    [ids],
  )
  return new Set(rows.map(({ upload_id }) => upload_id))
}

/** Runs under the lock that registering the same content takes. */
const deleteContentOfNobody = (
  { store }: Needed,
  files: ObjectStore,
  sha256: string,
): Promise<void> =>
  store.transaction(async tx => {
    await takeLocks(tx, [contentLock(sha256)])
    const { rowCount } = await tx.query(
      'select from write.upload where sha256 = $1 and completed_at is not null limit 1',
      [sha256],
    )
    if (rowCount === 0 && !(await isOfModel(tx, sha256))) await files.removeContent(sha256)
  })
