import type { Kysely } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { BenchmarkTables } from '../../projector/benchmarks/table.ts'
import type { DeploymentTables } from '../../projector/deployments/table.ts'
import type { TrafficTables } from '../../projector/traffic/table.ts'
import type { UsageTables } from '../../projector/usage/table.ts'
import { deploymentPath } from '../../schemas/deployments/deployments.ts'
import type { Reads } from '../reading/reads.ts'
import { type AccessTables, mayRead } from '../rules/access.ts'

export type Tables = DeploymentTables & TrafficTables & UsageTables & BenchmarkTables & AccessTables
export type Db = Kysely<Tables>

/** For routes about a deployment. */
export const ofDeployment = (reads: Reads<Tables>) =>
  ({
    credential: 'person',
    reach: 'its_people',
    params: deploymentPath,
    refusals: ['not_found'],
    of: ({ caller, params }: { caller: Person; params: { deployment_id: string } }) =>
      findDeployment(reads, caller, params.deployment_id),
  }) as const

/** A deleted deployment, or one that the caller may not read, looks as if it did not exist. */
async function findDeployment(reads: Reads<Tables>, caller: Person, deployment_id: string) {
  const db = reads.as(caller)
  const row = await db
    .selectFrom('deployments as d')
    .selectAll()
    .where('deployment_id', '=', deployment_id)
    .where('state', '<>', 'deleted')
    .where(mayRead(caller, 'd'))
    .executeTakeFirst()
  if (!row) throw new Refusal('not_found', `No such deployment: ${deployment_id}`)
  return { db, row }
}
