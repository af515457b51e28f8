import { billLinesOf, sumOf, toSeconds } from '../../events/calculations/billing.ts'
import type { Job } from '../../events/job-state.ts'
import type { Exit, JobEvent } from '../../events/jobs.ts'
import { outcomeOf } from './decide.ts'
import { failed, stopped, succeeded } from './ends.ts'
import type { Outcome, Trigger } from './lifecycle.ts'

/** The exit of an attempt, with what else its executor knows. */
export type AttemptEnd = {
  attempt: number
  exit: Exit
  /** Whether it ran, even if nobody knows how it ended. */
  was_running: boolean
  /** Whether the executor ended it in favour of another job. */
  preempted: boolean
}

/**
 * Records the exit of an attempt once, whatever the state of the job. An exit code other than 0 decides; after 0
 * the job waits for a report of the end (`assumeSucceeded`).
 */
export function attemptEnded(job: Job, end: AttemptEnd): JobEvent[] {
  const outcome = outcomeOf(job, triggerOf(end))
  if (end.attempt !== job.attempt || job.exit !== null || outcome === 'ignored') return []
  const { attempt, exit } = end
  const { disk_limit: _, ...seen } = exit
  const exited: JobEvent = {
    type: 'job.exited',
    data: { ...job.subject, attempt, ...seen, gpu_seconds: gpuSeconds(job, exit.ended_at) },
  }
  return [exited, ...consequences({ ...job, exit }, exit, outcome)]
}

/** The exit code was 0 and no report of the end arrived in time: the job counts as succeeded, when it exited. */
export function assumeSucceeded(job: Job): JobEvent[] {
  const { exit } = job
  if (exit?.exit_code !== 0 || outcomeOf(job, 'report_lost') !== 'succeeded') return []
  return [succeeded(job, { reason: 'exit_code', message: null, exit_code: 0, at: exit.ended_at })]
}

function triggerOf(end: AttemptEnd): Trigger {
  if (end.preempted) return 'preempt'
  if (end.exit.exit_code === 0) return 'exited_zero'
  return isLost(end) ? 'lost' : 'exited_nonzero'
}

/** It ran, but its end was not observed: the machine went down, or its supervisor was killed. */
const isLost = ({ was_running, exit: { exit_code, signal, oom_killed } }: AttemptEnd) =>
  exit_code === null && signal === null && was_running && !oom_killed

function consequences(job: Job, exit: Exit, outcome: Outcome): JobEvent[] {
  const { subject, attempt } = job
  switch (outcome) {
    case 'failed':
      return [failed(job, { ...failureOf(exit), exit_code: exit.exit_code, at: exit.ended_at })]
    case 'by_retry':
      return retryOrFail(job, exit)
    case 'queued':
      return [
        { type: 'job.preempted', data: { ...subject, attempt } },
        { type: 'job.queued', data: { ...subject, reason: 'waiting_capacity', not_before: null } },
      ]
    case 'paused':
      return [
        {
          type: 'job.paused',
          data: { ...subject, attempt, message: job.request?.message ?? null },
        },
      ]
    case 'stopped':
      return [stopped(job, job.request ?? { reason: 'user', message: null }, exit.ended_at)]
    default:
      return []
  }
}

function retryOrFail(job: Job, exit: Exit): JobEvent[] {
  const { subject, attempt, retry, losses } = job
  if (!retry.on.includes('node_failure') || losses + 1 >= retry.max_attempts)
    return [
      failed(job, {
        reason: 'node_failure',
        message: exit.launch_error,
        exit_code: null,
        at: exit.ended_at,
      }),
    ]
  const not_before = new Date(Date.parse(exit.ended_at) + retry.backoff_s * 1000).toISOString()
  return [
    { type: 'job.retried', data: { ...subject, attempt, reason: 'node_failure', not_before } },
    { type: 'job.queued', data: { ...subject, reason: 'retry_backoff', not_before } },
  ]
}

function failureOf(exit: Exit): {
  reason: 'oom_killed' | 'disk_limit' | 'launch_error' | 'exit_code'
  message: string | null
} {
  if (exit.disk_limit !== undefined) return { reason: 'disk_limit', message: exit.disk_limit }
  if (exit.oom_killed)
    return { reason: 'oom_killed', message: 'It ran out of memory and was killed' }
  if (exit.exit_code !== null)
    return { reason: 'exit_code', message: `It exited with code ${exit.exit_code}` }
  if (exit.signal !== null)
    return { reason: 'exit_code', message: `It was ended by signal ${exit.signal}` }
  return { reason: 'launch_error', message: exit.launch_error }
}

/** GPU seconds from the billing start to the end; 0 for an attempt that never reported `running`. */
function gpuSeconds({ gpus, rates, attempt, started_at }: Job, ended_at: string): number {
  const attempts = [{ attempt, started_at, ended_at }]
  return toSeconds(sumOf(billLinesOf({ gpus, rates, attempts })).gpu_ms)
}
