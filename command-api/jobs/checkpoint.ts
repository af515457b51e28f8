import type { Pool } from 'pg'
import { toTimestamp } from '../../schemas/timestamp.ts'
import type { Checkpoint } from './decide.ts'

export type KnownCheckpoint = Checkpoint & { registered_at: Date }

/** The checkpoint from which the next attempt of a run would continue: the registered one with the highest step. */
export async function newestCheckpoint(
  pool: Pool,
  run_id: string,
): Promise<KnownCheckpoint | null> {
  const { rows } = await pool.query<KnownCheckpoint>({
    name: 'newest_checkpoint',
    text: `select artifact_id, path, nullif(step, -1)::float8 as step, registered_at from write.artifact
            where run_id = $1 and kind = 'checkpoint' and not is_missing and deleted_at is null
            order by step desc, artifact_id desc limit 1`,
    values: [run_id],
  })
  return rows[0] ?? null
}

export const shown = ({ registered_at, ...checkpoint }: KnownCheckpoint) => ({
  ...checkpoint,
  registered_at: toTimestamp(registered_at),
})
