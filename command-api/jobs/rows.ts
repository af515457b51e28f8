import type { Job } from '../../events/job-state.ts'
import type { JobEvent } from '../../events/jobs.ts'
import { isEnded } from '../../schemas/jobs/jobs.ts'
import type { Decided } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import { holdResource } from '../rules/hold-resource.ts'
import { releaseVolumes } from '../rules/volumes.ts'
import { releaseHolds } from './holds.ts'
import { isActive, nextLimit } from './limits.ts'
import { notePastRun } from './past-runs.ts'

/** The checkpoint chosen for an attempt has just been deleted; choose again. */
export class CheckpointGone extends Error {}

/** Delay of the log's `eof`, so that reports and lines in flight precede it. */
const lateLinesMs = 5000
/** How long to wait for a report of the end after exit code 0. */
export const reportLostMs = 60_000
/** Grace for an attempt that has reported its end and is still running. */
const lastGraceSeconds = 5
/** The part of a pause's grace reserved for code that only reacts to signals, and its maximum. */
const lastCall = { part: 0.1, mostMs: 30_000 }

/**
 * Updates the rows used by other rules and the executor, in the transaction of the events. Part of every commit on a job.
 */
export async function saveJob(
  tx: Transaction,
  { state: job, events, now }: Decided<Job, JobEvent>,
): Promise<void> {
  const { run_id } = job.subject
  await saveState(tx, job, { now, pending_until: newPendingUntil(job, events, now) })
  for (const event of events) await saveAttempt(tx, event, now)
  if (events.some(event => event.type === 'job.exited')) {
    await releaseHolds(tx, run_id, now)
    await releaseVolumes(tx, run_id, now)
  }
  if (job.state === 'succeeded' && job.exit) await notePastRun(tx, run_id, now)
  await saveRun(tx, job, now)
}

const waitsAgain: readonly JobEvent['type'][] = ['job.resumed', 'job.retried', 'job.preempted']

/** The end of the permitted wait of a job that has just begun to wait again, counted from its earliest start; otherwise null. */
function newPendingUntil(
  { max_pending_s, not_before }: Job,
  events: readonly JobEvent[],
  now: Date,
): Date | null {
  if (max_pending_s === null || !events.some(({ type }) => waitsAgain.includes(type))) return null
  const from = Math.max(now.getTime(), not_before === null ? 0 : Date.parse(not_before))
  return new Date(from + max_pending_s * 1000)
}

async function saveState(
  tx: Transaction,
  job: Job,
  { now, pending_until }: { now: Date; pending_until: Date | null },
): Promise<void> {
  const stop = isActive(job) ? stopOf(job) : null
  const waitsForReport =
    job.exit?.exit_code === 0 && job.state !== null && job.ended_at === null && !isWaiting(job)
  await tx.query({
    name: 'save_job_state',
    text: `update write.job_state
              set state = $2, queue_reason = case when $2 = 'queued' and state = 'queued' then queue_reason else $3 end, not_before = $4, attempt = $5, is_active = $6,
                  executor_running = $7, limit_at = $8, stop_at = $9, stop_grace_s = $10, stop_force = $11,
                  settle_at = $12, priority = $14, is_unreachable = $15,
                  pending_until = coalesce($16, pending_until),
                  -- Only an attempt needs the values, and they may be secret.
                  env = case when $13 then '{}' else env end,
                  sealed_env = case when $13 then null else sealed_env end
            where run_id = $1`,
    values: [
      job.subject.run_id,
      job.state,
      job.state === 'queued' ? job.queue_reason : null,
      job.not_before,
      job.attempt,
      isActive(job),
      job.executor_running_at !== null,
      nextLimit(job)?.at ?? null,
      stop?.at ?? null,
      stop?.grace_s ?? null,
      stop?.force ?? false,
      waitsForReport ? new Date(now.getTime() + reportLostMs) : null,
      job.state !== null && isEnded(job.state),
      job.priority,
      job.is_unreachable,
      pending_until,
    ],
  })
}

const isWaiting = ({ state }: Job) => state === 'queued' || state === 'paused'

/** When the executor must end the attempt; null: never. */
function stopOf({ state, request, started_at, ended_at, stop_grace_s }: Job) {
  if ((state === 'stopping' || state === 'pausing') && request) {
    const { at, deadline, force } = request
    const graceMs = Date.parse(deadline) - Date.parse(at)
    // Code that reports receives the request in the responses: a signal would end it before it has written its checkpoint.
    const isAsked = state === 'pausing' && started_at !== null
    const leftMs = isAsked ? Math.min(graceMs * lastCall.part, lastCall.mostMs) : graceMs
    return { at: new Date(Date.parse(deadline) - leftMs), grace_s: leftMs / 1000, force }
  }
  if (ended_at === null) return null
  // Code that has reported its end may clean up for as long as after a stop.
  const at = new Date(Date.parse(ended_at) + stop_grace_s * 1000)
  return { at, grace_s: lastGraceSeconds, force: false }
}

async function saveAttempt(tx: Transaction, { type, data }: JobEvent, now: Date): Promise<void> {
  if (type === 'job.scheduled')
    await tx.query(
      `with scheduled as (
         update write.job_state
            set fencing_token = nextval('write.fencing_token'), scheduled_at = $2, shipped = '[]', placed_on = $3,
                resume_from = null
          where run_id = $1 returning executor, foretold_p50_s, foretold_p90_s, admitted_at)
       insert into write.past_wait (executor, p50_s, p90_s, waited_s, started_at)
       select executor, foretold_p50_s, foretold_p90_s, extract(epoch from $2::timestamptz - admitted_at), $2
         from scheduled where foretold_p90_s is not null and $4 = 1`,
      [data.run_id, now, data.nodes, data.attempt],
    )
  if (type === 'job.checkpoint_chosen') await holdCheckpoint(tx, data)
  if (type === 'job.placed')
    await tx.query('update write.job_state set placed_on = $2 where run_id = $1', [
      data.run_id,
      data.nodes.map(({ node }) => node),
    ])
  if (type === 'job.repriced')
    await tx.query(
      'update write.job_state set priced_at = greatest(priced_at, $2) where run_id = $1',
      [data.run_id, data.effective_at],
    )
  if (type === 'job.running' && data.attempt > 1)
    // Machines' clocks differ, so an earlier attempt may seem to have ended later; no instant counts twice.
    await tx.query(
      'update write.gpu_use set ended_at = least(ended_at, greatest(started_at, $2)) where run_id = $1',
      [data.run_id, data.started_at],
    )
  if (type === 'job.running')
    await tx.query(
      `insert into write.gpu_use (run_id, attempt, username, series, gpus, team, started_at)
       select run_id, attempt, owner, series, gpus, team, $2 from write.job_state where run_id = $1
       on conflict do nothing`,
      [data.run_id, data.started_at],
    )
  if (type === 'job.exited')
    await tx.query(
      `update write.gpu_use set ended_at = greatest(started_at, $3::timestamptz)
        where run_id = $1 and attempt = $2`,
      [data.run_id, data.attempt, data.ended_at],
    )
}

/** Its deletion either waits for this transaction or came first, and then the attempt would have nothing to continue from. */
async function holdCheckpoint(
  tx: Transaction,
  { run_id, artifact_id }: { run_id: string; artifact_id: string },
): Promise<void> {
  if (!(await holdResource(tx, { kind: 'artifact', id: artifact_id }))) throw new CheckpointGone()
  await tx.query('update write.job_state set resume_from = $2 where run_id = $1', [
    run_id,
    artifact_id,
  ])
}

/** Stores the request to the running code and, after the end, when to close the run's log. */
async function saveRun(tx: Transaction, job: Job, now: Date): Promise<void> {
  const hasEnded = job.state !== null && isEnded(job.state)
  await tx.query({
    name: 'save_run_state',
    text: `update write.run_state
              set control = $2, ended_at = coalesce(ended_at, $3), end_state = $4,
                  eof_due_at = coalesce(eof_due_at, $5)
            where run_id = $1`,
    values: [
      job.subject.run_id,
      controlOf(job),
      hasEnded ? now : null,
      hasEnded ? job.state : null,
      hasEnded && !isActive(job) ? new Date(now.getTime() + lateLinesMs) : null,
    ],
  })
}

export function controlOf({ state }: Job): 'none' | 'checkpoint_and_exit' | 'exit' {
  if (state === 'stopping') return 'exit'
  return state === 'pausing' ? 'checkpoint_and_exit' : 'none'
}
