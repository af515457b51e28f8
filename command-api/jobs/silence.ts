import type { Pool } from 'pg'
import type { Job } from '../../events/job-state.ts'
import type { JobEvent } from '../../events/jobs.ts'
import { isActive } from './limits.ts'

/** The attempts of a machine become `unreachable` after this silence, and lost after 10 minutes. */
export const silentMs = 120_000

/** `since` is when the machine of the attempt was last heard from; null if it is not silent. */
export function noteSilence(job: Job, since: Date | null): JobEvent[] {
  const { subject, attempt } = job
  const isUnreachable = since !== null && isActive(job)
  if (isUnreachable === job.is_unreachable) return []
  if (!isUnreachable) return [{ type: 'job.recovered', data: { ...subject, attempt } }]
  const silent_since = since.toISOString()
  return [{ type: 'job.unreachable', data: { ...subject, attempt, silent_since } }]
}

/** Jobs whose machine has fallen silent or is heard from again, with the time of its last sign of life, or null. */
export async function readSilenceChanges(
  pool: Pool,
  now: Date,
  limit: number,
): Promise<{ run_id: string; since: Date | null }[]> {
  const { rows } = await pool.query({
    name: 'silence_changes',
    text: `select j.run_id, case when e.seen_at < $1 then e.seen_at end as since
             from write.job_state j join write.engine e using (engine)
            where j.is_active and j.is_unreachable <> (e.seen_at < $1) limit $2`,
    values: [new Date(now.getTime() - silentMs), limit],
  })
  return rows
}
