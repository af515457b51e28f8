import type { JobState } from '../schemas/jobs/states.ts'
import { billLinesOf, type Rate, sumOf, unmetered, withRate } from './calculations/billing.ts'
import { aggregate, type Stamped } from './event.ts'
import { type Exit, type JobAdmitted, type JobEvent, jobEvents } from './jobs.ts'

/** A request to end an attempt: when it was made, and when the attempt is killed. */
export type EndRequest = {
  reason: 'user' | 'limit'
  message: string | null
  force: boolean
  at: string
  deadline: string
}

/** The state of a job, as far as rules need it. Timestamps are ISO 8601. */
export type Job = {
  /** Null: the job does not exist. */
  state: JobState | null
  subject: Pick<JobAdmitted, 'run_id' | 'short_id' | 'project' | 'owner'>
  name: string
  tags: readonly string[]
  notes: string
  starred: boolean
  archived: boolean
  priority: number
  gpus: number
  retry: JobAdmitted['spec']['spec']['retry']
  stop_grace_s: number
  max_duration_s: number | null
  max_pending_s: number | null
  max_cost: string | null
  /** Ordered by `since`; a new attempt keeps only the current price. */
  rates: readonly Rate[]
  /** Cost of ended attempts in millionths of the currency; text, because JSON has no such large integers. */
  spent_micro: string
  /** The newest attempt; 0 before the first. */
  attempt: number
  /** How many attempts were lost and followed by another: only these count towards `retry.max_attempts`. */
  losses: number
  /** The names of its nodes by rank, as far as they are known. */
  nodes: readonly string[]
  queue_reason: string | null
  /** End of a hold or of the wait before a retry. */
  not_before: string | null
  executor_running_at: string | null
  /** Whether the machine of the newest attempt is silent. */
  is_unreachable: boolean
  /** Billing start of the newest attempt. */
  started_at: string | null
  /** How the newest attempt ended; null while it may run. */
  exit: Exit | null
  request: EndRequest | null
  ended_at: string | null
}

const initial: Job = {
  state: null,
  subject: { run_id: '', short_id: '', project: '', owner: '' },
  name: '',
  tags: [],
  notes: '',
  starred: false,
  archived: false,
  priority: 0,
  gpus: 0,
  retry: { max_attempts: 1, on: [], backoff_s: 0, resume: 'none' },
  stop_grace_s: 0,
  max_duration_s: null,
  max_pending_s: null,
  max_cost: null,
  rates: [],
  spent_micro: '0',
  attempt: 0,
  losses: 0,
  nodes: [],
  queue_reason: null,
  not_before: null,
  executor_running_at: null,
  is_unreachable: false,
  started_at: null,
  exit: null,
  request: null,
  ended_at: null,
}

const newAttempt = {
  executor_running_at: null,
  is_unreachable: false,
  started_at: null,
  exit: null,
  request: null,
}

const endStates = {
  'job.succeeded': 'succeeded',
  'job.failed': 'failed',
  'job.stopped': 'stopped',
} as const

function evolve(job: Job, event: Stamped<JobEvent>): Job {
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
    case 'job.scheduled': {
      const rates = job.rates.slice(-1).map(rate => ({ ...rate, since: null }))
      const { attempt, nodes } = event.data
      return { ...job, ...newAttempt, state: 'scheduled', attempt, nodes, rates }
    }
    case 'job.placed':
      return { ...job, nodes: event.data.nodes.map(({ node }) => node) }
    case 'job.starting':
      return { ...job, state: 'starting', executor_running_at: event.data.executor_running_at }
    case 'job.running':
      return { ...job, state: 'running', started_at: event.data.started_at }
    case 'job.repriced': {
      const { effective_at: since, price_per_gpu_hour } = event.data
      return {
        ...job,
        rates: withRate({ ...unmetered, rates: job.rates }, { since, price_per_gpu_hour }).rates,
      }
    }
    case 'job.pause_requested':
      return { ...job, state: 'pausing', request: pauseRequest(event.data, at) }
    case 'job.paused':
      return { ...job, state: 'paused' }
    case 'job.stop_requested':
      return { ...job, state: 'stopping', request: { ...event.data, at } }
    case 'job.exited':
      return {
        ...job,
        exit: event.data,
        spent_micro: spentAt(job, event.data),
        is_unreachable: false,
      }
    case 'job.unreachable':
    case 'job.recovered':
      return { ...job, is_unreachable: event.type === 'job.unreachable' }
    case 'job.priority_changed':
      return { ...job, priority: event.data.priority }
    case 'job.renamed':
      return { ...job, name: event.data.name }
    case 'job.tagged':
      return { ...job, tags: event.data.tags }
    case 'job.noted':
      return { ...job, notes: event.data.notes }
    case 'job.marked':
      return { ...job, starred: event.data.starred, archived: event.data.archived }
    case 'job.checkpoint_chosen':
    case 'job.resumed':
    case 'job.preempted':
      return job
    case 'job.retried':
      return { ...job, losses: job.losses + 1 }
    case 'job.succeeded':
    case 'job.failed':
    case 'job.stopped':
      return { ...job, state: endStates[event.type], ended_at: event.data.ended_at }
  }
}

const pauseRequest = (asked: Pick<EndRequest, 'message' | 'deadline'>, at: string): EndRequest => ({
  ...asked,
  reason: 'user',
  force: asked.deadline <= at,
  at,
})

function admitted(data: JobAdmitted): Job {
  const { run_id, short_id, project, owner, name, tags, notes, priority } = data
  const { gpus, price_per_gpu_hour, spec } = data
  const { limits, retry } = spec.spec
  return {
    ...initial,
    state: 'admitted',
    subject: { run_id, short_id, project, owner },
    name,
    tags,
    notes,
    priority,
    gpus,
    retry,
    stop_grace_s: limits.stop_grace_s,
    max_duration_s: limits.max_duration_s,
    max_pending_s: limits.max_pending_s,
    max_cost: limits.max_cost,
    rates: [{ since: null, price_per_gpu_hour }],
  }
}

/** The total cost of the job once its newest attempt has ended. */
function spentAt(job: Job, { attempt, ended_at }: { attempt: number; ended_at: string }): string {
  const { gpus, rates, started_at, spent_micro } = job
  const lines = billLinesOf({ gpus, rates, attempts: [{ attempt, started_at, ended_at }] })
  return String(BigInt(spent_micro) + sumOf(lines).cost_micro)
}

export const jobs = aggregate('job', { events: jobEvents, initial, evolve, snapshot: { shape: 6 } })
/** The life of a run's job. */
export const jobAt = (runId: string) => jobs.at(runId)
