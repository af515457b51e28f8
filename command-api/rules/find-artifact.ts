import type { Pool } from 'pg'
import type { Person } from '../../auth/caller.ts'

/** A reference to an artifact, or to the best, the latest or a step's artifact of a run. */
export type ArtifactReference = {
  artifact_id: string | null
  /** A run id, or a short id. */
  run_id: string | null
  select: 'best' | 'latest' | { step: number } | null
}

export type FoundArtifact = {
  artifact_id: string
  run_id: string
  project: string
  kind: string
  path: string
  /** Null if none was given. */
  sha256: string | null
  is_verified: boolean
  metrics: Record<string, number>
  deleted_at: Date | null
}

/**
 * `latest` is the highest step (the newest for equal steps); `best` has the best registered value of the run's
 * `checkpoints.metric`. A deleted one is found by its id alone.
 */
export async function findArtifact(
  pool: Pool,
  { artifact_id, run_id, select }: ArtifactReference,
  caller: Pick<Person, 'username' | 'role'>,
): Promise<FoundArtifact | null> {
  const { rows } = await pool.query<FoundArtifact>({
    name: 'init_from',
    text: `select a.artifact_id, a.run_id, r.project, a.kind, a.path, a.sha256, a.is_verified, a.metrics, a.deleted_at
             from write.artifact a join write.resource r on r.kind = 'run' and r.id = a.run_id
             cross join lateral (select ${score} as score) scored
            where a.kind <> 'eval_report' and not a.is_missing and r.deleted_at is null
              and (a.deleted_at is null or $1::text is not null)
              and ($1::text is null or a.artifact_id = $1)
              and ($2::text is null or r.id = $2 or r.name = $2)
              and ($3::bigint is null or a.step = $3)
              and ($4::text is distinct from 'best' or score is not null)
              and write.may_read(r.owner, r.project, $6, $5)
            order by case when $4 = 'best' then score end desc nulls last, a.step desc, a.artifact_id desc
            limit 1`,
    values: [
      artifact_id,
      run_id,
      typeof select === 'object' && select ? select.step : null,
      typeof select === 'string' ? select : null,
      caller.role === 'admin',
      caller.username,
    ],
  })
  return rows[0] ?? null
}

/** SQL: the registered value of artifact `a` for its run's `checkpoints.metric`; higher is better. */
const score = `(
  select (told.data -> 'metrics' ->> (metric ->> 'key'))::float8
         * case metric ->> 'goal' when 'min' then -1 else 1 end
    from write.event admitted
    cross join lateral (select admitted.data #> '{spec,spec,checkpoints,metric}' as metric) wanted
    join write.event told on told.stream = 'artifact-' || a.artifact_id
   where admitted.stream = 'job-' || a.run_id and admitted.stream_version = 1
     and jsonb_typeof(told.data -> 'metrics' -> (metric ->> 'key')) = 'number'
   order by told.stream_version desc limit 1)`
