import { type Route, route } from '../../auth/route.ts'
import { type Volume, volumeAt } from '../../events/volumes.ts'
import { Refusal } from '../../platform/refusal.ts'
import { volumeDeleted, volumeDeletionQuery, volumePath } from '../../schemas/volumes.ts'
import { commit } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { deleteVolume } from './decide.ts'
import { findVolume, runsOfVolume, saveVolume } from './rows.ts'

export const deleteRoute = (deps: Deps): Route =>
  route({
    method: 'DELETE',
    path: '/api/volumes/{volume_id}',
    credential: 'person',
    reach: 'its_people',
    tag: 'volumes',
    summary:
      'Delete a volume with its files; 409 while jobs that have not ended name it; with `dry_run`, list these',
    params: volumePath,
    query: volumeDeletionQuery,
    response: volumeDeleted,
    refusals: ['not_found', 'conflict'],
    async handle(request) {
      const { caller, params, query } = request
      const named = await findVolume(deps.pool, params.volume_id, caller)
      const { volume_id } = named
      if (query.dry_run ?? false)
        return { volume_id, deleted: false, would_break: await runsOfVolume(deps.pool, volume_id) }
      await commit(deps, request, volumeAt(named), {
        decide: before => deleteVolume(before, named),
        async alongside(tx, decided) {
          // New jobs lock the row as well (`holdVolumes`): they come first and are seen, or find the volume deleted.
          await tx.query('select from write.volume where volume_id = $1 for update', [volume_id])
          await refuseInUse(tx, named, decided.before)
          await saveVolume(tx, decided)
        },
      })
      return { volume_id, deleted: true, would_break: [] }
    },
  })

async function refuseInUse(
  tx: Transaction,
  { volume_id, name }: { volume_id: string; name: string },
  before: Volume,
): Promise<void> {
  const runs = await runsOfVolume(tx, volume_id)
  if (runs.length > 0)
    throw new Refusal(
      'conflict',
      `The volume ${name} is in use by ${runs.map(({ short_id }) => short_id).join(', ')}`,
      {
        code: 'volume.in_use',
        data: { runs: runs.map(({ run_id }) => run_id) },
        hint: 'Stop these jobs first, or wait until they have ended',
      },
    )
  if (before && before.snapshots.length > 0)
    throw new Refusal('conflict', `A snapshot of the volume ${name} is under way`, {
      code: 'volume.in_use',
      data: { runs: [] },
      hint: 'Wait until it has ended',
    })
}
