import type { Pool } from 'pg'
import type { Deps } from '../deps.ts'

type ActiveRow = {
  run_id: string
  attempt: number
  engine: string | null
  gpu_indexes: number[]
  scheduled_at: Date
  executor_running: boolean
  stop_at: Date | null
  stop_grace_s: number
  stop_force: boolean
  limit_at: Date | null
  nodes: number
  placed_on: string[]
  shipped: { stdout: number; stderr: number }[]
}

/** An executor by name, and the machine on which it runs attempts. */
/** `engine` is the id of the host, as the tables name it. */
export type ExecutorHost = {
  executor: string
  engine: string
  /** Where engines of replicas have their sockets, if they run on this machine. */
  runsDirectory?: string | null | undefined
}

/** SQL: whether job `j` has an attempt on machine $2 of executor $1, or on an unknown one. */
const isOurs = 'j.is_active and j.executor = $1 and (j.engine = $2 or j.engine is null)'

/** The attempts that hold GPUs of this machine. Other machines handle their own; if the machine is unknown, the engine decides. */
export async function readActive(
  { pool, now }: Pick<Deps, 'pool' | 'now'>,
  { executor, engine }: ExecutorHost,
) {
  const { rows } = await pool.query<ActiveRow>({
    name: 'active_attempts',
    text: `select j.run_id, j.attempt, j.engine, j.scheduled_at, j.executor_running, j.stop_at, j.stop_grace_s, j.stop_force,
                  j.limit_at, j.nodes, j.placed_on, j.shipped,
                  coalesce((select array_agg(gpu_index order by gpu_index)
                              from write.gpu_slot s where s.run_id = j.run_id), '{}') as gpu_indexes
             from write.job_state j where ${isOurs} order by j.run_id`,
    values: [executor, engine],
  })
  return rows.map(row => ({
    run_id: row.run_id,
    attempt: row.attempt,
    gpu_indexes: row.gpu_indexes,
    scheduled_at: row.scheduled_at,
    is_claimed: row.engine !== null,
    executor_running: row.executor_running,
    stop:
      row.stop_at !== null && row.stop_at <= now()
        ? { grace_s: row.stop_grace_s, force: row.stop_force }
        : null,
    limit_at: row.limit_at,
    nodes: row.nodes,
    placed_on: row.placed_on,
    shipped: row.shipped,
  }))
}

export type AttemptOfRun = { run_id: string; attempt: number }

/** The attempts among these that have ended. Unknown attempts do not count: the database may have been restored from a backup. */
export async function readOver(
  pool: Pool,
  attempts: readonly AttemptOfRun[],
): Promise<AttemptOfRun[]> {
  const { rows } = await pool.query<AttemptOfRun>({
    name: 'attempts_over',
    text: `select run_id, asked.attempt
             from unnest($1::text[], $2::int[]) asked (run_id, attempt) join write.job_state j using (run_id)
            where asked.attempt < j.attempt or (asked.attempt = j.attempt and not j.is_active)`,
    values: [attempts.map(({ run_id }) => run_id), attempts.map(({ attempt }) => attempt)],
  })
  return rows
}

/** The GPUs of this machine that attempts hold. */
export async function readHeldGpus(
  pool: Pool,
  { executor, engine }: ExecutorHost,
): Promise<number[]> {
  const { rows } = await pool.query<{ gpu_index: number }>({
    name: 'held_gpus',
    text: `select s.gpu_index from write.gpu_slot s join write.job_state j using (run_id) where ${isOurs}`,
    values: [executor, engine],
  })
  return rows.map(({ gpu_index }) => gpu_index)
}
