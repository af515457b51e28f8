import type { Pool } from 'pg'
import type { QueueReason } from '../../schemas/jobs/jobs.ts'
import type { Deps } from '../deps.ts'
import {
  hasRoom,
  overItsBudget,
  overItsPool,
  type QueueRow,
  queued,
  readWaiting,
} from './waiting-jobs.ts'

export type Wait = { run_id: string; reason: QueueReason }

/** Maximum rows that one call changes; the next pass of the executor continues. */
const atOnce = 1000

/** Records why queued jobs still wait. A column rather than an event: one start changes it for hundreds of jobs. */
export async function noteWaitReasons(pool: Pool, waits: readonly Wait[]): Promise<void> {
  if (waits.length === 0) return
  const some = waits.slice(0, atOnce)
  await pool.query({
    name: 'note_wait_reasons',
    text: `update write.job_state j set queue_reason = w.reason
             from unnest($1::text[], $2::text[]) w (run_id, reason)
            where j.run_id = w.run_id and j.state = 'queued' and j.queue_reason is distinct from w.reason`,
    values: [some.map(({ run_id }) => run_id), some.map(({ reason }) => reason)],
  })
}

/** The jobs of an executor that could start if GPUs are free, in queue order; records which others wait for a volume. */
export async function readReady(
  deps: Pick<Deps, 'pool' | 'now'>,
  executor: string,
): Promise<QueueRow[]> {
  const { ready, withoutVolume } = await readWaiting(deps, executor)
  await noteWaitReasons(
    deps.pool,
    withoutVolume.map(run_id => ({ run_id, reason: 'volume_in_use' as const })),
  )
  return ready
}

/** Records for all due jobs of an executor that nothing starts there. */
export async function noteReasonOfAll(
  { pool, now }: Pick<Deps, 'pool' | 'now'>,
  executor: string,
  reason: QueueReason,
): Promise<void> {
  await pool.query({
    name: 'note_reason_of_all',
    text: `update write.job_state set queue_reason = $2
            where run_id in (select run_id from write.job_state
                              where state = 'queued' and executor = $1 and queue_reason is distinct from $2
                                and (not_before is null or not_before <= $3)
                              limit ${atOnce} for update skip locked)`,
    values: [executor, reason, now()],
  })
}

const lacking = `case when ${overItsBudget} then 'over_budget' when ${overItsPool} then 'team_pool_in_use'
  else 'quota_in_use' end`

/** Records which due jobs wait for their owner's quota or for a budget, at most `limit` of them; jobs that change meanwhile are left to the next pass. */
export async function noteQuotaWaits(pool: Pool, now: Date, limit: number): Promise<void> {
  await pool.query({
    name: 'note_quota_waits',
    text: `update write.job_state set queue_reason = w.reason
             from (select j.run_id as waiting_id, ${lacking} as reason from ${queued}
                                and j.queue_reason <> ${lacking}
                                and (j.not_before is null or j.not_before <= $1) and not ${hasRoom}
                                and not (select paused from write.queue_switch)
                                and not exists (select from write.drain d where d.engine = j.executor)
                              limit $2 for update of j skip locked) w
            where run_id = w.waiting_id`,
    values: [now, limit],
  })
}
