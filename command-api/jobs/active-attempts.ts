import type { Deps } from '../deps.ts'

type ActiveRow = {
  run_id: string
  attempt: number
  gpu_indexes: number[]
  scheduled_at: Date
  executor_running: boolean
  stop_at: Date | null
  stop_grace_s: number
  stop_force: boolean
  limit_at: Date | null
  shipped_stdout: number
  shipped_stderr: number
}

/** The attempts of an executor that hold GPUs. */
export async function readActive({ pool, now }: Pick<Deps, 'pool' | 'now'>, executor: string) {
  const { rows } = await pool.query<ActiveRow>({
    name: 'active_attempts',
    text: `select j.*, coalesce((select array_agg(gpu_index order by gpu_index)
                                   from write.gpu_slot s where s.run_id = j.run_id), '{}') as gpu_indexes
             from write.job_state j where j.is_active and j.executor = $1 order by j.run_id`,
    values: [executor],
  })
  return rows.map(row => ({
    run_id: row.run_id,
    attempt: row.attempt,
    gpu_indexes: row.gpu_indexes,
    scheduled_at: row.scheduled_at,
    executor_running: row.executor_running,
    stop:
      row.stop_at !== null && row.stop_at <= now()
        ? { grace_s: row.stop_grace_s, force: row.stop_force }
        : null,
    limit_at: row.limit_at,
    shipped: { stdout: row.shipped_stdout, stderr: row.shipped_stderr },
  }))
}
