import { sql } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import { isOneOf } from '../../platform/postgres/one-of.ts'
import type { Artifact } from '../../schemas/artifacts/artifacts.ts'
import { goneStates, overStates } from '../../schemas/deployments/serving-states.ts'
import { serveKind } from '../../schemas/recipes.ts'
import type { Reads } from '../reading/reads.ts'
import { mayReadRun } from '../rules/access.ts'
import type { ArtifactRow, Tables } from './find.ts'

/** The properties that set artifacts apart from others of their run. */
export type Standings = Marks & {
  /** The users that protect each artifact from deletion, as far as the caller may read them. */
  protectedBy: ReadonlyMap<string, Artifact['protected_by']>
}

type Read = { reads: Reads<Tables>; caller: Person; run_id: string }

export async function standings(
  read: Read,
  shown: readonly Pick<ArtifactRow, 'artifact_id'>[],
): Promise<Standings> {
  const ids = shown.map(row => row.artifact_id)
  const [marks, protections] = await Promise.all([outstanding(read), protectionsOf(read, ids)])
  return { ...marks, protectedBy: protections }
}

type Marks = { latest: string | null; best: string | null }

/** The newest checkpoint of a run, and its best one by the metric that its spec names. */
async function outstanding({ reads, caller, run_id }: Read): Promise<Marks> {
  const { rows } = await sql<Marks>`
    with present as (
      select * from artifacts
       where run_id = ${run_id} and kind = 'checkpoint' and status in ('registered', 'verified'))
    select (select artifact_id from present
             order by step desc nulls last, created_at desc, artifact_id desc limit 1) as latest,
           (select artifact_id from present where metrics ? r.best_key
             order by case when r.best_goal = 'max' then -1 else 1 end * (metrics ->> r.best_key)::float8,
                      step desc nulls last, created_at desc, artifact_id desc limit 1) as best
      from runs r where r.run_id = ${run_id}`.execute(reads.as(caller, [run_id]))
  return rows[0] ?? { latest: null, best: null }
}

/**
 * Mirrors `command-api/artifacts/protection.ts`, which also counts runs that the caller may not read;
 * `test/artifacts/shown-protection.test.ts` compares the two.
 */
async function protectionsOf(
  { reads, caller, run_id }: Read,
  ids: readonly string[],
): Promise<Standings['protectedBy']> {
  const { rows } = await sql<{ artifact_id: string } & Artifact['protected_by'][number]>`
    select 'init_from' as type, begun.artifact_id, r.run_id as id
      from readable_runs r, unnest(r.init_from) as begun(artifact_id)
     where r.init_from && ${ids}::text[] and begun.artifact_id = any(${ids}::text[])
       and r.run_id <> ${run_id} and ${mayReadRun(caller)}
       -- The job of an engine is none of these: its deployment protects the artifact.
       and not exists (select from jobs e where e.run_id = r.run_id and e.kind = ${serveKind})
    union all
    select 'resume', a.artifact_id, a.run_id
      from artifacts a join jobs j using (run_id)
     where a.run_id = ${run_id} and a.artifact_id = any(${ids}::text[]) and j.ended_at is null
       and a.artifact_id in (
         (select resume_from from job_attempts t where t.run_id = j.run_id and t.attempt = j.attempt),
         (select artifact_id from artifacts c
           where c.run_id = ${run_id} and c.kind = 'checkpoint' and c.status in ('registered', 'verified')
           order by c.step desc nulls last, c.artifact_id desc limit 1))
    union all
    select 'model', v.artifact_id, v.model || '@' || v.version
      from model_versions v join models m using (model)
     where v.artifact_id = any(${ids}::text[]) and m.deleted_at is null
    union all
    select distinct 'deployment', v.source ->> 'artifact_id', d.name
      from deployment_revisions v join deployments d using (deployment_id)
     where v.source ->> 'artifact_id' = any(${ids}::text[])
       and not ${sql.raw(isOneOf('v.state', overStates))} and not ${sql.raw(isOneOf('d.state', goneStates))}
     order by 1, 3`.execute(reads.as(caller))
  const found = [...Map.groupBy(rows, row => row.artifact_id)]
  return new Map(found.map(([id, all]) => [id, all.map(({ artifact_id: _, ...by }) => by)]))
}
