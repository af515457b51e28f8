import type { Pool } from 'pg'
import type { QueueView } from '../../schemas/jobs.ts'
import type { Transaction } from '../event-store.ts'

/**
 * The order of the queue, of `write.job_state j` beside its owner's `write.quota q`: the quota's priority, the
 * job's own, and who came first.
 */
export const queueOrder = 'coalesce(q.priority, 0) desc, j.priority desc, j.admitted_at, j.run_id'

/** Beyond this the exact position is useless and would be counted with each submit. */
const countedUpTo = 2000

/** The queue position of a job. */
export const place = (tx: Pool | Transaction, run_id: string): Promise<QueueView> =>
  placeBy(
    tx,
    'place_in_queue',
    `(select coalesce(q.priority, 0) as class, j.priority, j.admitted_at, j.run_id, j.queue_reason
        from write.job_state j left join write.quota q on q.username = j.owner where j.run_id = $1)`,
    [run_id],
  )

/** The queue position of a job submitted now. */
export const placeOfNewcomer = (
  pool: Pool,
  job: { owner: string; priority: number },
): Promise<QueueView> =>
  placeBy(
    pool,
    'place_of_newcomer',
    `(select coalesce((select priority from write.quota where username = $1), 0) as class, $2::int as priority,
             'infinity'::timestamptz as admitted_at, '' as run_id, 'waiting_capacity' as queue_reason)`,
    [job.owner, job.priority],
  )

async function placeBy(
  db: Pool | Transaction,
  name: string,
  newcomer: string,
  values: unknown[],
): Promise<QueueView> {
  // Named, so that it is planned once per connection: planning takes longer than execution.
  const { rows } = await db.query({
    name,
    text: `select me.queue_reason, ahead.jobs, ahead.gpus
       from ${newcomer} me,
            lateral (select count(*)::int as jobs, coalesce(sum(gpus), 0)::int as gpus from (
              select j.gpus from write.job_state j left join write.quota q on q.username = j.owner
               where j.state = 'queued'
                 and (-coalesce(q.priority, 0), -j.priority, j.admitted_at, j.run_id)
                   < (-me.class, -me.priority, me.admitted_at, me.run_id)
               limit ${countedUpTo}) counted) ahead`,
    values,
  })
  const { jobs = 0, gpus = 0, queue_reason = null } = rows[0] ?? {}
  return { position: jobs + 1, ahead_gpus: gpus, eta_s: null, reason: queue_reason }
}
