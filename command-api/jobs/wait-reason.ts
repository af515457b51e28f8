import type { Pool } from 'pg'
import type { QueueReason } from '../../schemas/jobs.ts'
import { hasRoom } from './waiting-jobs.ts'

/** Notes why a queued job still waits. A column and no event: one start changes it for hundreds of jobs. */
export async function noteWaitReason(
  pool: Pool,
  run_id: string,
  reason: QueueReason,
): Promise<void> {
  await pool.query({
    name: 'note_wait_reason',
    text: `update write.job_state set queue_reason = $2
            where run_id = $1 and state = 'queued' and queue_reason is distinct from $2`,
    values: [run_id, reason],
  })
}

/** Notes which due jobs wait for their owner's quota, at most `limit` of them; those that change now are for the next time. */
export async function noteQuotaWaits(pool: Pool, now: Date, limit: number): Promise<void> {
  await pool.query({
    name: 'note_quota_waits',
    text: `update write.job_state set queue_reason = 'quota_in_use'
            where run_id in (select j.run_id from write.job_state j join write.quota q on q.username = j.owner
                              where j.state = 'queued' and j.queue_reason <> 'quota_in_use'
                                and (j.not_before is null or j.not_before <= $1) and not (${hasRoom})
                              limit $2 for update of j skip locked)`,
    values: [now, limit],
  })
}
