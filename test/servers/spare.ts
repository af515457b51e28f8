import type { ExecutionContext } from 'ava'
import { startForge } from './forge.ts'

/** A server without an executor, and the profile `spare`: its jobs stay queued unless the test starts them. */
export async function forgeWithSpare(t: ExecutionContext, gpusPerNode = 1) {
  const forge = await startForge(t, { SERVICE_ROLES: 'command-api,relay,projector,query-api' })
  await forge.call('PUT', '/api/admin/profiles/spare', {
    body: { series: 'X', gpus_per_node: gpusPerNode, executor: 'local' },
  })
  return forge
}
