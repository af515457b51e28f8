import type { Pool } from 'pg'
import type { StoredRow } from './row.ts'

/**
 * Adds the current wait reason to queued jobs. It changes whenever another job starts, so it is a column of the write
 * side and not an event; the read models only know the reason from when the job was queued.
 */
export async function withWaitReasons<
  R extends Pick<StoredRow, 'run_id' | 'state' | 'state_reason'>,
>(pool: Pool, jobs: readonly R[]): Promise<R[]> {
  const queued = jobs.flatMap(job => (job.state === 'queued' ? job.run_id : []))
  if (queued.length === 0) return [...jobs]
  const { rows } = await pool.query<{ run_id: string; queue_reason: string }>({
    name: 'wait_reasons',
    text: `select run_id, queue_reason from write.job_state
            where run_id = any($1) and state = 'queued' and queue_reason is not null`,
    values: [queued],
  })
  const reasonOf = new Map(rows.map(row => [row.run_id, row.queue_reason]))
  return jobs.map(job => ({ ...job, state_reason: reasonOf.get(job.run_id) ?? job.state_reason }))
}
