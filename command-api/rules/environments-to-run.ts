import type { JobAdmitted } from '../../events/jobs.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { EnvironmentArgs } from '../../schemas/rl-environments/manifest.ts'
import { archiveName } from '../../schemas/rl-environments/rl-environments.ts'
import type { Transaction } from '../commit/event-store.ts'
import { roleOf } from './enabled-person.ts'
import { resolveEnvironment } from './rl-environment-access.ts'

export type EnvironmentToRun = {
  ref: string
  digest: string
  weight: number
  args: EnvironmentArgs
  entry: string
  has_requirements: boolean
  files: { name: string; sha256: string; size_bytes: number }[]
}

/**
 * The admitted versions of the RL environments that the spec names. Asks again whether the owner of the job may see them, because they
 * may have become private while the job waited; the attempt then ends with this refusal.
 */
export async function environmentsToRun(
  tx: Transaction,
  { owner, spec }: JobAdmitted,
): Promise<EnvironmentToRun[]> {
  const asked = spec.spec.environments
  if (asked.length === 0) return []
  const caller = { username: owner, role: (await roleOf(tx, owner)) ?? 'operator' }
  const usable: EnvironmentToRun[] = []
  for (const { ref, digest, weight, args } of asked) {
    const found = await resolveEnvironment(tx, ref, caller)
    if (found?.digest !== digest || !found)
      throw new Refusal(
        'not_found',
        `The environment ${ref} was deleted, or ${owner} may no longer see it`,
      )
    const { entry, args_default, has_requirements } = found.manifest
    const { archive_sha256: sha256, archive_bytes: size_bytes } = found
    usable.push({
      ...{ ref: found.ref, digest: found.digest, weight, entry, has_requirements },
      args: { ...args_default, ...args },
      files: [{ name: archiveName, sha256, size_bytes }],
    })
  }
  return usable
}
