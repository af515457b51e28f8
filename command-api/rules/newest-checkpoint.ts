import type { Pool } from 'pg'

export type KnownCheckpoint = {
  artifact_id: string
  path: string
  step: number | null
  registered_at: Date
}

/** SQL: the id of the checkpoint from which the next attempt of a run would continue: the one with the highest step. */
export const newestCheckpointId = (run_id: string): string => `(
  select c.artifact_id from write.artifact c
   where c.run_id = ${run_id} and c.kind = 'checkpoint' and not c.is_missing and c.deleted_at is null
   order by c.step desc, c.artifact_id desc limit 1)`

/** Null if the run has no usable checkpoint. */
export async function newestCheckpoint(
  pool: Pool,
  run_id: string,
): Promise<KnownCheckpoint | null> {
  const { rows } = await pool.query<KnownCheckpoint>({
    name: 'newest_checkpoint',
    text: `select artifact_id, path, nullif(step, -1)::float8 as step, registered_at from write.artifact
            where artifact_id = ${newestCheckpointId('$1')}`,
    values: [run_id],
  })
  return rows[0] ?? null
}
