import type { Kysely } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { ArtifactTables } from '../../projector/artifacts/table.ts'
import type { BenchmarkTables } from '../../projector/benchmarks/table.ts'
import type { DeploymentTables } from '../../projector/deployments/table.ts'
import type { ModelTables } from '../../projector/models/table.ts'
import type { TrafficTables } from '../../projector/traffic/table.ts'
import { modelPath } from '../../schemas/models.ts'
import type { Reads } from '../reading/reads.ts'
import { type AccessTables, mayRead } from '../rules/access.ts'

export type Tables = ModelTables &
  ArtifactTables &
  BenchmarkTables &
  DeploymentTables &
  TrafficTables &
  AccessTables
export type Db = Kysely<Tables>

/** For routes about a model. */
export const ofModel = (reads: Reads<Tables>) =>
  ({
    credential: 'person',
    reach: 'its_people',
    params: modelPath,
    refusals: ['not_found'],
    of: ({ caller, params }: { caller: Person; params: { model: string } }) =>
      findModel(reads, caller, params.model),
  }) as const

/** A deleted model, or one that the caller may not read, looks as if it did not exist. */
export async function findModel(
  reads: Reads<Tables>,
  caller: Pick<Person, 'username' | 'role'>,
  model: string,
) {
  const db = reads.as(caller)
  const row = await db
    .selectFrom('models as d')
    .selectAll()
    .where('model', '=', model)
    .where('deleted_at', 'is', null)
    .where(mayRead(caller, 'd'))
    .executeTakeFirst()
  if (!row) throw new Refusal('not_found', `No such model: ${model}`)
  return { db, row }
}
