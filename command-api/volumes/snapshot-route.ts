import { type Route, route } from '../../auth/route.ts'
import { volumeAt } from '../../events/volumes.ts'
import { Refusal } from '../../platform/refusal.ts'
import { volumePath, volumeSnapshotInput, volumeSnapshotStarted } from '../../schemas/volumes.ts'
import { create } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { takeVolume } from '../rules/volumes.ts'
import { requestSnapshot } from './decide.ts'
import { findVolume, runsOfVolume, saveVolume } from './rows.ts'
import { normalPath, refuseDataset } from './snapshot-input.ts'

export const snapshotRoute = (deps: Deps): Route =>
  route({
    method: 'POST',
    path: '/api/volumes/{volume_id}/snapshots',
    credential: 'person',
    reach: 'its_people',
    tag: 'volumes',
    summary: 'Make files of a volume the next version of a dataset, in the background',
    params: volumePath,
    body: volumeSnapshotInput,
    response: volumeSnapshotStarted,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const { caller, params, body } = request
      const named = await findVolume(deps.pool, params.volume_id, caller)
      const path = normalPath(body.path ?? '')
      const { dataset } = body
      await refuseDataset(deps.pool, dataset, caller)
      const snapshot_id = deps.newId('snap')
      const { username: requested_by } = caller
      const target = volumeAt(named)
      return create(deps, request, target, {
        async make(work) {
          await work.decide(target, {
            decide: before =>
              requestSnapshot(before, { ...named, snapshot_id, path, dataset, requested_by }),
            async alongside(tx, decided) {
              await holdForSnapshot(tx, named, snapshot_id)
              await saveVolume(tx, decided)
            },
          })
          return { volume_id: named.volume_id, snapshot_id, path, dataset }
        },
      })
    },
  })

async function holdForSnapshot(
  tx: Transaction,
  { volume_id, name }: { volume_id: string; name: string },
  holder: string,
): Promise<void> {
  if (await takeVolume(tx, { volume_id, holder, read_only: true })) return
  const runs = await runsOfVolume(tx, volume_id)
  throw new Refusal(
    'conflict',
    `A run writes to the volume ${name}; its files may be half written`,
    {
      code: 'volume.in_use',
      data: { runs: runs.map(({ run_id }) => run_id) },
      hint: 'Make the snapshot when the run has ended',
    },
  )
}
