import { type Kysely, sql } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import type { DeploymentTables } from '../../projector/deployments/table.ts'
import type { ModelTables } from '../../projector/models/table.ts'
import type { RlEnvironmentTables } from '../../projector/rl-environments/table.ts'
import { type AccessTables, mayRead } from '../rules/access.ts'

export type Results = {
  models: string[]
  deployments: string[]
  /** The RL environments that it uses. */
  environments: { ref: string; digest: string }[]
}

export const noResults: Results = { models: [], deployments: [], environments: [] }

/** The RL environments of these runs, and the results that this person may read: versions of models as `name@3`, and ids of deployments. */
export async function readResults(
  db: Kysely<AccessTables & DeploymentTables & ModelTables & RlEnvironmentTables>,
  runIds: readonly string[],
  caller: Person,
): Promise<Map<string, Results>> {
  const { rows } = await sql<Results & { run_id: string }>`
    select asked.run_id,
           array(select v.model || '@' || v.version from model_versions v join models m using (model)
                  where v.run_id = asked.run_id and m.deleted_at is null and ${mayRead(caller, 'm')}
                  order by v.model, v.version limit 100) as models,
           array(select distinct d.deployment_id from deployment_revisions v join deployments d using (deployment_id)
                  where v.source ->> 'run_id' = asked.run_id and d.state <> 'deleted' and ${mayRead(caller, 'd')}
                  order by d.deployment_id limit 100) as deployments,
           (select coalesce(jsonb_agg(jsonb_build_object('ref', e.ref, 'digest', e.digest) order by e.ref), '[]')
              from rl_environment_uses e where e.run_id = asked.run_id) as environments
      from unnest(${runIds}::text[]) as asked (run_id)`.execute(db)
  return new Map(rows.map(({ run_id, ...results }) => [run_id, results]))
}
