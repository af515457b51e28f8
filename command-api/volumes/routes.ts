import { type Route, route } from '../../auth/route.ts'
import { type Volume, volumeAt } from '../../events/volumes.ts'
import { Refusal } from '../../platform/refusal.ts'
import {
  type VolumeBackend,
  volumeGrowth,
  volumeInput,
  volumePatch,
  volumePath,
  volumeSaved,
} from '../../schemas/volumes.ts'
import { commit, create } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { refuseBeyondStorage, storageLocks, storageQuotaOf } from '../rules/storage-quota.ts'
import { volumeIdOf } from '../rules/volumes.ts'
import { changeVolume, createVolume, growVolume } from './decide.ts'
import { deleteRoute } from './delete-route.ts'
import { findVolume, saveVolume } from './rows.ts'
import { snapshotRoute } from './snapshot-route.ts'

const bytesPerGb = 1e9

export const volumeRoutes = (deps: Deps): Route[] => [
  createRoute(deps),
  growRoute(deps),
  changeRoute(deps),
  snapshotRoute(deps),
  deleteRoute(deps),
]

const createRoute = (deps: Deps): Route =>
  route({
    method: 'POST',
    path: '/api/volumes',
    credential: 'person',
    tag: 'volumes',
    summary: 'Create a volume, which jobs of its owner mount by its name',
    body: volumeInput,
    response: volumeSaved,
    refusals: ['invalid', 'conflict', 'not_configured'],
    async handle(request) {
      const { caller, body } = request
      const { username: owner } = caller
      const { name, size_gb, backend = 'local', read_only = false, auto_cleanup_s = null } = body
      refuseMissing(deps, backend)
      const volume_id = volumeIdOf(owner, name)
      const target = volumeAt({ volume_id })
      const quota = await storageQuotaOf(deps.pool, owner)
      const directory = deps.newId('volume')
      return create(deps, request, target, {
        locks: [`volumes of ${owner}`, ...storageLocks(quota)],
        async make(work) {
          const { state } = await work.decide(target, {
            decide: before =>
              createVolume(before, {
                ...{ volume_id, owner, name, size_gb, backend, read_only },
                ...{ auto_cleanup_s, directory },
              }),
            async alongside(tx, decided) {
              await refuseBeyondStorage(tx, quota, { bytes: size_gb * bytesPerGb, instead: {} })
              await saveVolume(tx, decided)
            },
          })
          return toSaved(state, true)
        },
      })
    },
  })

const growRoute = (deps: Deps): Route =>
  route({
    method: 'POST',
    path: '/api/volumes/{volume_id}/grow',
    credential: 'person',
    reach: 'its_people',
    tag: 'volumes',
    summary: 'Let a volume grow to a size; runs that use it need not stop',
    params: volumePath,
    body: volumeGrowth,
    response: volumeSaved,
    refusals: ['not_found', 'invalid', 'conflict'],
    async handle(request) {
      const { caller, params, body } = request
      const named = await findVolume(deps.pool, params.volume_id, caller)
      const quota = await storageQuotaOf(deps.pool, named.owner)
      const { events, state } = await commit(deps, request, volumeAt(named), {
        locks: storageLocks(quota),
        decide: before => growVolume(before, named, body.size_gb),
        async alongside(tx, decided) {
          const more = (body.size_gb - (decided.before?.size_gb ?? 0)) * bytesPerGb
          await refuseBeyondStorage(tx, quota, { bytes: more, instead: {} })
          await saveVolume(tx, decided)
        },
      })
      return toSaved(state, events.length > 0)
    },
  })

const changeRoute = (deps: Deps): Route =>
  route({
    method: 'PATCH',
    path: '/api/volumes/{volume_id}',
    credential: 'person',
    reach: 'its_people',
    tag: 'volumes',
    summary:
      'Make a volume read-only or writable, or change after which time without use it is emptied',
    params: volumePath,
    body: volumePatch,
    response: volumeSaved,
    refusals: ['not_found', 'conflict'],
    async handle(request) {
      const { caller, params, body } = request
      const named = await findVolume(deps.pool, params.volume_id, caller)
      const { events, state } = await commit(deps, request, volumeAt(named), {
        decide: before => changeVolume(before, named, body),
        alongside: saveVolume,
      })
      return toSaved(state, events.length > 0)
    },
  })

function refuseMissing({ volumes }: Deps, backend: VolumeBackend): void {
  if (backend === 'kubernetes')
    throw new Refusal(
      'not_configured',
      'Volumes on Kubernetes do not exist in this version; create one with the backend local or slurm',
      { code: 'volume.backend' },
    )
  if (volumes[backend] === null)
    throw new Refusal('not_configured', 'This installation has no Slurm cluster', {
      code: 'volume.backend',
      hint: 'Create the volume with the backend local, or set SERVICE_SLURM_URL and SERVICE_SLURM_DIR',
    })
}

function toSaved(volume: Volume, changed: boolean) {
  if (!volume) throw new Error('a volume that was just written is missing')
  const { volume_id, name, owner, size_gb, backend, read_only, auto_cleanup_s } = volume
  return { volume_id, name, owner, size_gb, backend, read_only, auto_cleanup_s, changed }
}
