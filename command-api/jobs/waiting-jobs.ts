import type { QueueReason } from '../../schemas/jobs.ts'
import type { Deps } from '../deps.ts'
import { queueOrder } from './queue-place.ts'

/** Maximum queued jobs per pass of the executor. */
const lookedAt = 200

/** The due jobs that fit into their owner's quota, in queue order. */
export async function readWaiting({ pool, now }: Pick<Deps, 'pool' | 'now'>, executor: string) {
  const { rows } = await pool.query<{ run_id: string; gpus: number; reason: QueueReason | null }>({
    name: 'waiting_jobs',
    text: `select j.run_id, j.gpus, j.queue_reason as reason
             from write.job_state j left join write.quota q on q.username = j.owner
            where j.state = 'queued' and j.executor = $1 and (j.not_before is null or j.not_before <= $2)
              and ${hasRoom}
            order by ${queueOrder} limit ${lookedAt}`,
    values: [executor, now()],
  })
  return rows
}

/** SQL: whether quota `q` of its owner currently has room for job `j`. */
export const hasRoom = `coalesce(q.held_gpus, 0) + j.gpus <= coalesce(q.max_concurrent_gpus, 8)
  and coalesce(q.held_jobs, 0) < coalesce(q.max_concurrent_jobs, 4)
  and coalesce((q.held_series ->> j.series)::int, 0) + j.gpus
      <= coalesce((q.per_series -> j.series ->> 'max_concurrent_gpus')::int, 2147483647)`
