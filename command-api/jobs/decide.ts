import { isDeepStrictEqual } from 'node:util'
import type { Job } from '../../events/job-state.ts'
import type { JobAdmitted, JobEvent, NodeOfRank } from '../../events/jobs.ts'
import { Refusal } from '../../platform/refusal.ts'
import { isEnded, type QueueReason } from '../../schemas/jobs/jobs.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { failed, stopped, succeeded } from './ends.ts'
import { lifecycle, type Outcome, type Trigger } from './lifecycle.ts'

export type Hold = { reason: 'approval' | 'not_before'; until: string | null }

/** `admitted` has passed the gates; a job without a hold is queued at once. */
export function admit(job: Job, admitted: JobAdmitted, hold: Hold | null): JobEvent[] {
  if (job.state !== null) throw new Refusal('conflict', `Run ${admitted.run_id} already exists`)
  const { run_id, short_id, project, owner } = admitted
  const subject = { run_id, short_id, project, owner }
  const then: JobEvent = hold
    ? { type: 'job.held', data: { ...subject, ...hold } }
    : {
        type: 'job.queued',
        data: { ...subject, reason: 'waiting_capacity', not_before: null },
      }
  return [{ type: 'job.admitted', data: admitted }, then]
}

/** Back from the queue, or from the wait for its time: a change voided its approval. */
export function holdForApproval(job: Job): JobEvent[] {
  if (outcomeOf(job, 'hold') === 'ignored') return []
  return [{ type: 'job.held', data: { ...job.subject, reason: 'approval', until: null } }]
}

/** Ends a hold. A job in the queue stays there: why it waits is not an event (wait-reason.ts). */
export function queue(job: Job, reason: QueueReason): JobEvent[] {
  const outcome = outcomeOf(job, 'queue')
  return outcome === 'ignored' ? [] : [queued(job, reason, null)]
}

export type Placement = { executor: string; nodes: string[]; gpu_indexes: number[] }

/** The checkpoint an attempt continues from; an artifact may have no step. */
export type Checkpoint = { artifact_id: string; path: string; step: number | null }

/** Quota and GPUs are reserved in the same transaction. `checkpoint` is the newest one of the run. */
export function schedule(
  job: Job,
  placement: Placement,
  checkpoint: Checkpoint | null = null,
): JobEvent[] {
  if (outcomeOf(job, 'schedule') === 'ignored') return []
  const attempt = job.attempt + 1
  const scheduled: JobEvent = {
    type: 'job.scheduled',
    data: { ...job.subject, attempt, ...placement },
  }
  if (checkpoint === null || job.retry.resume === 'none') return [scheduled]
  const { artifact_id, path, step } = checkpoint
  const data = { ...job.subject, attempt, artifact_id, path, step }
  return [scheduled, { type: 'job.checkpoint_chosen', data }]
}

export function executorRunning(job: Job, attempt: number, at: string): JobEvent[] {
  if (attempt !== job.attempt || outcomeOf(job, 'executor_running') === 'ignored') return []
  return [starting(job, null, at)]
}

/** Records where the ranks of an attempt run, as soon as its engine reports it and unless it is already known. */
export function placed(job: Job, attempt: number, nodes: readonly NodeOfRank[]): JobEvent[] {
  const names = nodes.map(({ node }) => node)
  if (attempt !== job.attempt || job.exit !== null || isDeepStrictEqual(names, job.nodes)) return []
  return [{ type: 'job.placed', data: { ...job.subject, attempt, nodes: [...nodes] } }]
}

export type AttemptReport = {
  event: 'starting' | 'running' | 'succeeded' | 'failed'
  /** Null: the newest. */
  attempt: number | null
  phase: Extract<JobEvent, { type: 'job.starting' }>['data']['phase']
  exit_code: number | null
  message: string | null
  /** Time of receipt; clocks of nodes are not trusted. */
  at: string
}

/** A report that is out of order or belongs to an older attempt appends no event. */
export function report(job: Job, said: AttemptReport): JobEvent[] {
  const outcome = outcomeOf(job, `report_${said.event}`)
  if (outcome === 'ignored' || (said.attempt !== null && said.attempt !== job.attempt)) return []
  const isLate = job.exit !== null
  switch (said.event) {
    case 'starting':
      return isLate ? [] : [starting(job, said.phase, job.executor_running_at ?? said.at)]
    case 'running':
      return isLate ? [] : [...impliedStart(job, said.at), running(job, said.at)]
    case 'succeeded':
      return [succeeded(job, { ...said, reason: 'reported' })]
    case 'failed':
      return [failed(job, { ...said, reason: 'reported' })]
  }
}

/** `force` leaves no time: the attempt is killed at once. */
export type Asked = {
  message: string | null
  now: Date
  graceSeconds: number | null
  force: boolean
}

/** A repeated request only matters if it has an earlier deadline (or `force`). A job without a live attempt stops at once. */
export function stop(job: Job, asked: Asked): JobEvent[] {
  const outcome = acceptable(job, 'stop')
  const deadline = deadlineOf(job, asked)
  if (outcome === 'same' && job.request && job.request.deadline <= deadline) return []
  const request = { reason: 'user' as const, message: asked.message }
  if (outcome === 'stopped') return [stopped(job, request, asked.now.toISOString())]
  return requestStop(job, { ...request, force: asked.force, deadline }, asked.now)
}

/** A limit of the spec was reached; `message` names it with its value. */
export function limit(job: Job, message: string, now: Date): JobEvent[] {
  if (outcomeOf(job, 'limit') === 'ignored') return []
  const deadline = deadlineOf(job, { graceSeconds: null, now, force: false })
  return requestStop(job, { reason: 'limit', message, force: false, deadline }, now)
}

/** As with stops, a repeated request only matters if it has an earlier deadline. */
export function pause(job: Job, asked: Asked): JobEvent[] {
  const outcome = acceptable(job, 'pause')
  if (job.state === 'paused') return []
  const { subject, attempt } = job
  const { message } = asked
  const paused: JobEvent = { type: 'job.paused', data: { ...subject, attempt, message } }
  if (outcome === 'paused') return [paused]
  const deadline = deadlineOf(job, asked)
  if (outcome === 'same' && job.request && job.request.deadline <= deadline) return []
  const requested: JobEvent = {
    type: 'job.pause_requested',
    data: { ...subject, attempt, message, deadline },
  }
  return job.exit ? [requested, paused] : [requested]
}

export function resume(job: Job, message: string | null): JobEvent[] {
  acceptable(job, 'resume')
  return [
    { type: 'job.resumed', data: { ...job.subject, message } },
    queued(job, 'waiting_capacity', null),
  ]
}

export function pendingTimeout(job: Job, message: string, now: Date): JobEvent[] {
  if (outcomeOf(job, 'pending_timeout') === 'ignored') return []
  return [failed(job, { reason: 'limit', message, exit_code: null, at: now.toISOString() })]
}

/** Looks up the lifecycle table; refuses a missing job. */
export function outcomeOf(job: Job, trigger: Trigger): Outcome {
  if (job.state === null) throw new Refusal('not_found', `No such job: ${job.subject.run_id}`)
  return lifecycle[job.state][trigger]
}

const pastOf = { pause: 'paused', resume: 'resumed', stop: 'stopped' } as const

/** The outcome of a person's request; throws for a conflict. */
function acceptable(job: Job, trigger: keyof typeof pastOf): Outcome {
  const outcome = outcomeOf(job, trigger)
  if (outcome !== 'conflict' || job.state === null) return outcome
  if (!isEnded(job.state))
    throw new Refusal('conflict', `A job that is ${job.state} cannot be ${pastOf[trigger]}`, {
      code: `job.${job.state}`,
    })
  throw endedAlready(job)
}

/** The refusal of requests that need a job that has not ended. */
export function endedAlready(job: Job): Refusal {
  const at = job.ended_at === null ? '' : ` at ${toTimestamp(new Date(job.ended_at))}`
  return new Refusal('conflict', `Job already stopped (${job.state}${at})`, { code: 'job.ended' })
}

function deadlineOf(job: Job, asked: Omit<Asked, 'message'>): string {
  const grace = asked.force ? 0 : (asked.graceSeconds ?? job.stop_grace_s)
  return new Date(asked.now.getTime() + grace * 1000).toISOString()
}

type StopRequest = Pick<
  Extract<JobEvent, { type: 'job.stop_requested' }>['data'],
  'reason' | 'message' | 'force' | 'deadline'
>

/** If the attempt has already ended, there is nothing to wait for. */
function requestStop(job: Job, request: StopRequest, now: Date): JobEvent[] {
  const { subject, attempt } = job
  const requested: JobEvent = {
    type: 'job.stop_requested',
    data: { ...subject, attempt, ...request },
  }
  return job.exit ? [requested, stopped(job, request, now.toISOString())] : [requested]
}

const queued = (job: Job, reason: QueueReason, not_before: string | null): JobEvent => ({
  type: 'job.queued',
  data: { ...job.subject, reason, not_before },
})

const starting = (
  job: Job,
  phase: AttemptReport['phase'],
  executor_running_at: string,
): JobEvent => ({
  type: 'job.starting',
  data: { ...job.subject, attempt: job.attempt, phase, executor_running_at },
})

const running = (job: Job, started_at: string): JobEvent => ({
  type: 'job.running',
  data: { ...job.subject, attempt: job.attempt, started_at },
})

/** A report proves that the attempt is running, even if the executor has not recorded it yet. */
const impliedStart = (job: Job, at: string): JobEvent[] =>
  job.state === 'scheduled' ? [starting(job, null, at)] : []
