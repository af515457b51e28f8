import type { Stamped } from '../../events/event.ts'
import type { JobAdmitted, JobEvent } from '../../events/jobs.ts'
import type { JobState } from '../../schemas/jobs.ts'

export type Exit = { exit_code: number | null; ended_at: string }

/** That an attempt is to end: since when, and when it is killed. */
export type EndRequest = {
  reason: 'user' | 'limit'
  message: string | null
  force: boolean
  at: string
  deadline: string
}

/** What the rules read of a job. Timestamps are ISO 8601. */
export type Job = {
  /** Null: there is no such job. */
  state: JobState | null
  subject: Pick<JobAdmitted, 'run_id' | 'short_id' | 'project' | 'owner'>
  gpus: number
  retry: JobAdmitted['spec']['spec']['retry']
  stop_grace_s: number
  max_duration_s: number | null
  /** For how many seconds of running `max_cost` pays. */
  paid_s: number | null
  /** The newest attempt; 0 before the first. */
  attempt: number
  queue_reason: string | null
  /** Held, or waiting for another try, until then. */
  not_before: string | null
  executor_running_at: string | null
  /** Billing start of the newest attempt. */
  started_at: string | null
  /** How the newest attempt ended; null while something of it may run. */
  exit: Exit | null
  request: EndRequest | null
  ended_at: string | null
}

export const noJob: Job = {
  state: null,
  subject: { run_id: '', short_id: '', project: '', owner: '' },
  gpus: 0,
  retry: { max_attempts: 1, on: [], backoff_s: 0, resume: 'none' },
  stop_grace_s: 0,
  max_duration_s: null,
  paid_s: null,
  attempt: 0,
  queue_reason: null,
  not_before: null,
  executor_running_at: null,
  started_at: null,
  exit: null,
  request: null,
  ended_at: null,
}

const newAttempt = { executor_running_at: null, started_at: null, exit: null, request: null }

export function evolve(job: Job, event: Stamped<JobEvent>): Job {
  const at = event.occurred_at
  switch (event.type) {
    case 'job.admitted':
      return admitted(event.data)
    case 'job.held':
      return { ...job, state: 'held', not_before: event.data.until }
    case 'job.queued': {
      const { reason, not_before } = event.data
      return { ...job, state: 'queued', queue_reason: reason, not_before, request: null }
    }
    case 'job.scheduled':
      return { ...job, ...newAttempt, state: 'scheduled', attempt: event.data.attempt }
    case 'job.starting':
      return { ...job, state: 'starting', executor_running_at: event.data.executor_running_at }
    case 'job.running':
      return { ...job, state: 'running', started_at: event.data.started_at }
    case 'job.pause_requested':
      return {
        ...job,
        state: 'pausing',
        request: { ...event.data, reason: 'user', force: false, at },
      }
    case 'job.paused':
      return { ...job, state: 'paused' }
    case 'job.stop_requested':
      return { ...job, state: 'stopping', request: { ...event.data, at } }
    case 'job.exited':
      return { ...job, exit: event.data }
    case 'job.resumed':
    case 'job.preempted':
    case 'job.retried':
      return job
    case 'job.succeeded':
      return { ...job, state: 'succeeded', ended_at: event.data.ended_at }
    case 'job.failed':
      return { ...job, state: 'failed', ended_at: event.data.ended_at }
    case 'job.stopped':
      return { ...job, state: 'stopped', ended_at: event.data.ended_at }
  }
}

function admitted(data: JobAdmitted): Job {
  const { run_id, short_id, project, owner, gpus, price_per_gpu_hour, spec } = data
  const { limits, retry } = spec.spec
  const costPerSecond = (Number(price_per_gpu_hour) * gpus) / 3600
  return {
    ...noJob,
    state: 'admitted',
    subject: { run_id, short_id, project, owner },
    gpus,
    retry,
    stop_grace_s: limits.stop_grace_s,
    max_duration_s: limits.max_duration_s,
    paid_s:
      limits.max_cost === null || costPerSecond === 0
        ? null
        : Number(limits.max_cost) / costPerSecond,
  }
}

/** Whether something of the newest attempt may run. */
export const isActive = (job: Job): boolean => job.attempt > 0 && job.exit === null

/** The first limit that an attempt will reach, and when; null without one. */
export function nextLimit(job: Job): { at: Date; message: string } | null {
  const { executor_running_at, started_at, max_duration_s, paid_s } = job
  const began = started_at ?? executor_running_at
  const after = (from: string | null, seconds: number | null) =>
    from === null || seconds === null ? Number.POSITIVE_INFINITY : Date.parse(from) + seconds * 1000
  const duration = after(began, max_duration_s)
  const cost = after(started_at, paid_s)
  const at = Math.min(duration, cost)
  if (at === Number.POSITIVE_INFINITY) return null
  return {
    at: new Date(at),
    message:
      duration <= cost ? `max_duration_s (${max_duration_s}) is reached` : 'max_cost is reached',
  }
}
