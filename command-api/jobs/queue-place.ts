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

/** SQL: how many jobs are ahead of `me`, and their GPUs. */
const ahead = `(
  select count(*)::int as jobs, coalesce(sum(gpus), 0)::int as gpus from (
    select j.gpus from write.job_state j left join write.quota q on q.username = j.owner
     where j.state = 'queued'
       and (-coalesce(q.priority, 0), -j.priority, j.admitted_at, j.run_id)
         < (-me.class, -me.priority, me.admitted_at, me.run_id)
     limit ${countedUpTo}) counted)`

/** The queue position of a job; null where it is not queued. */
export const place = async (db: Pool | Transaction, run_id: string): Promise<QueueView | null> =>
  (await placesOf(db, [run_id])).get(run_id) ?? null

/**
 * The queue positions of jobs that were queued together. Those of equal priority stand one behind the other, so that only
 * the first of them counts who is ahead.
 */
export async function placesOf(
  db: Pool | Transaction,
  run_ids: readonly string[],
): Promise<Map<string, QueueView>> {
  if (run_ids.length === 0) return new Map()
  // Named, so that it is planned once per connection: planning takes longer than execution.
  const { rows } = await db.query({
    name: 'places_in_queue',
    text: `with mine as (
             select j.run_id, j.queue_reason, coalesce(q.priority, 0) as class, j.priority, j.admitted_at,
                    (row_number() over before - 1)::int as jobs, (sum(j.gpus) over before - j.gpus)::int as gpus
               from write.job_state j left join write.quota q on q.username = j.owner
              where j.run_id = any($1) and j.state = 'queued'
             window before as (partition by coalesce(q.priority, 0), j.priority order by j.admitted_at, j.run_id)),
           first as materialized (
             select me.class, me.priority, ahead.jobs, ahead.gpus from mine me, lateral ${ahead} ahead
              where me.jobs = 0)
           select mine.run_id, mine.queue_reason as reason, first.jobs + mine.jobs + 1 as position,
                  first.gpus + mine.gpus as ahead_gpus
             from mine join first using (class, priority)`,
    values: [run_ids],
  })
  return new Map(rows.map(({ run_id, ...view }) => [run_id, { eta_s: null, ...view }]))
}

/** The queue position of a job submitted now. */
export async function placeOfNewcomer(
  pool: Pool,
  job: { owner: string; priority: number },
): Promise<QueueView> {
  const { rows } = await pool.query({
    name: 'place_of_newcomer',
    text: `select 'waiting_capacity' as reason, ahead.jobs + 1 as position, ahead.gpus as ahead_gpus
             from (select coalesce((select priority from write.quota where username = $1), 0) as class,
                          $2::int as priority, 'infinity'::timestamptz as admitted_at, '' as run_id) me,
                  lateral ${ahead} ahead`,
    values: [job.owner, job.priority],
  })
  return { eta_s: null, ...rows[0] }
}
