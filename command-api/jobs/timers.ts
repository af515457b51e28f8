import type { Job } from '../../events/job-state.ts'
import type { JobEvent } from '../../events/jobs.ts'
import { repeat } from '../../platform/repeat.ts'
import type { Deps } from '../deps.ts'
import type { Stamp } from '../event-store.ts'
import { assumeSucceeded } from './attempt-end.ts'
import { changeJob } from './change.ts'
import { pendingTimeout, queue } from './decide.ts'
import { hasRoom } from './waiting-jobs.ts'

export type JobKeeper = { stop(): Promise<void> }

/** Interval between passes, in milliseconds. */
const intervalMs = 1000
const batch = 100

/**
 * Time-based transitions of jobs: ends expired holds, expires jobs that waited too long, assumes success after exit
 * code 0 without a report, and records `quota` as the reason of jobs whose owner has no room. Every step may be
 * repeated, by any process.
 */
export function startJobKeeper(deps: Deps, wake: () => void): JobKeeper {
  return repeat(
    async () => {
      if (await keepJobs(deps)) wake()
      return intervalMs
    },
    {
      failed: error =>
        deps.logger.warn({ err: error }, 'jobs could not be looked after, will retry'),
    },
  )
}

type Duty = {
  /** SQL that finds due jobs; `$1` is now, `$2` the limit. */
  due: string
  decide: (job: Job, now: Date) => JobEvent[]
}

const duties: readonly Duty[] = [
  {
    due: `select run_id from write.job_state where state = 'held' and not_before <= $1 limit $2`,
    decide: job => queue(job, 'waiting_capacity'),
  },
  {
    due: `select run_id from write.job_state
           where state in ('held', 'queued') and pending_until <= $1 limit $2`,
    decide: (job, now) =>
      pendingTimeout(job, 'max_pending_s is reached: it waited too long for its turn', now),
  },
  {
    due: 'select run_id from write.job_state where settle_at <= $1 limit $2',
    decide: assumeSucceeded,
  },
  {
    due: `select j.run_id from write.job_state j join write.quota q on q.username = j.owner
           where j.state = 'queued' and j.queue_reason <> 'quota_in_use'
             and (j.not_before is null or j.not_before <= $1) and not (${hasRoom})
           limit $2`,
    decide: job => queue(job, 'quota_in_use'),
  },
]

/** Returns whether something changed. */
export async function keepJobs(deps: Pick<Deps, 'store' | 'pool' | 'now'>): Promise<boolean> {
  let isChanged = false
  for (const { due, decide } of duties) {
    const now = deps.now()
    const { rows } = await deps.pool.query(due, [now, batch])
    for (const { run_id } of rows) {
      const stamp: Stamp = {
        actor: { type: 'system', id: 'job-keeper', via: 'timer' },
        requestId: 'job-keeper',
        now,
      }
      const { events } = await changeJob(deps.store, { run_id, stamp }, job => decide(job, now))
      isChanged ||= events.length > 0
    }
  }
  return isChanged
}
