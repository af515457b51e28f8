import { type Job, jobAt } from '../../events/job-state.ts'
import type { JobEvent } from '../../events/jobs.ts'
import { forEachApart } from '../../platform/each.ts'
import { repeat } from '../../platform/repeat.ts'
import { type CommitDeps, commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { assumeSucceeded } from './attempt-end.ts'
import { pendingTimeout, queue } from './decide.ts'
import { forgetOldHolds } from './holds.ts'
import { readNewPrices, reprice, toReprice } from './prices.ts'
import { saveJob } from './rows.ts'
import { noteSilence, readSilenceChanges } from './silence.ts'
import { noteQuotaWaits } from './wait-reason.ts'

export type JobTimers = { stop(): Promise<void> }

/** Interval between passes, in milliseconds. */
const intervalMs = 1000
const batch = 100

/**
 * Time-based transitions of jobs: ends expired holds, expires jobs that waited too long, assumes success after exit code 0
 * without a report, applies new prices to running jobs, detects silent machines, and records `quota` as the reason for jobs
 * whose owner's quota has no room. Every step is idempotent and may run in any process.
 */
export function startJobTimers(deps: Deps): JobTimers {
  return repeat(
    async () => {
      await runDueTimers(deps)
      return intervalMs
    },
    {
      failed: error => deps.logger.warn({ err: error }, 'a pass over the jobs failed, will retry'),
    },
  )
}

type Due = { run_id: string }

type Timer = {
  /** SQL that finds due jobs; `$1` is now, `$2` the limit. */
  due: string
  decide: (job: Job, now: Date) => JobEvent[]
}

const timers: readonly Timer[] = [
  {
    due: `select run_id from write.job_state where state = 'held' and not_before <= $1 limit $2`,
    decide: job => queue(job, 'waiting_capacity'),
  },
  {
    due: `select run_id from write.job_state
           where state in ('held', 'queued') and pending_until <= $1 limit $2`,
    decide: (job, now) =>
      pendingTimeout(job, `max_pending_s (${job.max_pending_s}) is reached`, now),
  },
  {
    due: 'select run_id from write.job_state where settle_at <= $1 limit $2',
    decide: assumeSucceeded,
  },
]

const timerRequest = {
  actor: { type: 'system', id: 'job-keeper', via: 'timer' },
  requestId: 'job-keeper',
} as const

/** Returns whether anything changed. */
export async function runDueTimers(
  deps: CommitDeps & Pick<Deps, 'pool' | 'logger'>,
): Promise<boolean> {
  let isChanged = false
  const change = async (run_id: string, decide: Timer['decide']) => {
    const { events } = await commit(deps, timerRequest, jobAt(run_id), {
      decide,
      alongside: saveJob,
    })
    isChanged ||= events.length > 0
  }
  const each = <D extends Due>(rows: readonly D[], look: (due: D) => Promise<void>) =>
    forEachApart(rows, look, (error, { run_id }) =>
      deps.logger.error({ err: error, run_id }, 'this job could not be processed'),
    )
  for (const timer of timers) {
    const { rows } = await deps.pool.query<Due>(timer.due, [deps.now(), batch])
    await each(rows, ({ run_id }) => change(run_id, timer.decide))
  }
  const { rows: outdated } = await deps.pool.query<Due>(toReprice, [batch, deps.now()])
  await each(outdated, async ({ run_id }) => {
    const prices = await readNewPrices(deps, run_id)
    await change(run_id, job => reprice(job, prices))
  })
  const silences = await readSilenceChanges(deps.pool, deps.now(), batch)
  await each(silences, ({ run_id, since }) => change(run_id, job => noteSilence(job, since)))
  await noteQuotaWaits(deps.pool, deps.now(), batch)
  await forgetOldHolds(deps.pool, deps.now())
  return isChanged
}
