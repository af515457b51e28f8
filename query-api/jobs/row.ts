import type { Selectable } from 'kysely'
import { type Amounts, centsText, hoursText } from '../../events/calculations/billing.ts'
import type { JobTables } from '../../projector/jobs/table.ts'
import { isEnded, type JobRow, type QueueView } from '../../schemas/jobs/jobs.ts'
import type { JobState } from '../../schemas/jobs/states.ts'
import { toTimestamp, toTimestampOrNull } from '../../schemas/timestamp.ts'

/** The columns of a row; the others belong to the detail. */
export const rowColumns = [
  'run_id',
  'short_id',
  'name',
  'project',
  'owner',
  'team',
  'kind',
  'state',
  'state_reason',
  'phase',
  'recipe_name',
  'recipe_version',
  'profile',
  'series',
  'gpus',
  'nodes',
  'priority',
  'preemptible',
  'attempt',
  'max_attempts',
  'submitted_at',
  'scheduled_at',
  'executor_running_at',
  'started_at',
  'ended_at',
  'state_since',
  'queued_ms',
  'starting_ms',
  'running_ms',
  'currency',
  'exit_code',
  'tags',
  'init_from',
  'updated_at',
  'total_steps',
  'unreachable_since',
] as const

export type StoredRow = Pick<Selectable<JobTables['jobs']>, (typeof rowColumns)[number]>

/** The parts of a row that are not stored with the job. */
export type Beside = {
  queue: QueueView | null
  /** The greatest step of any metric. */
  step: number | null
  logTruncated: boolean
  /** When the newest checkpoint was registered; looked up for jobs that are pausing or paused. */
  checkpoint_at: Date | null
  /** Up to now, from the ledger. */
  owed: Amounts
}

const waiting: readonly JobState[] = ['admitted', 'held', 'queued']
const starting: readonly JobState[] = ['scheduled', 'starting']
const running: readonly JobState[] = ['running', 'pausing', 'stopping']

export function toJobRow(job: StoredRow, beside: Beside, now: Date): JobRow {
  const { recipe_name, recipe_version, state_since, queued_ms, starting_ms, running_ms, ...row } =
    job
  const { total_steps, unreachable_since: _, ...shown } = row
  const inState = Math.max(0, now.getTime() - state_since.getTime())
  const seconds = (ms: number, states: readonly JobState[]) =>
    Math.round((ms + (states.includes(job.state) ? inState : 0)) / 1000)
  const running_s = seconds(running_ms, running)
  return {
    ...shown,
    job_id: job.run_id,
    phase: reportsNothing(job, beside, now) ? 'no_report' : job.phase,
    conditions: conditionsOf(job, beside, now),
    recipe: { name: recipe_name, version: recipe_version },
    queue: beside.queue,
    progress: progressOf(beside.step, total_steps, isEnded(job.state) ? null : running_s),
    submitted_at: toTimestamp(job.submitted_at),
    admitted_at: toTimestamp(job.submitted_at),
    scheduled_at: toTimestampOrNull(job.scheduled_at),
    executor_running_at: toTimestampOrNull(job.executor_running_at),
    started_at: toTimestampOrNull(job.started_at),
    ended_at: toTimestampOrNull(job.ended_at),
    queued_s: seconds(queued_ms, waiting),
    starting_s: job.attempt === 0 ? null : seconds(starting_ms, starting),
    running_s: job.started_at === null && running_ms === 0 ? null : running_s,
    gpu_hours: hoursText(beside.owed.gpu_ms),
    cost: centsText(beside.owed.cost_micro),
    diagnosis: null,
    updated_at: toTimestamp(job.updated_at),
  }
}

function conditionsOf(job: StoredRow, beside: Beside, now: Date) {
  const { state, started_at, unreachable_since } = job
  const { logTruncated, checkpoint_at } = beside
  const isPause = state === 'pausing' || state === 'paused'
  // Work done before the pause survives only in a checkpoint of that attempt.
  const losesWork =
    isPause && started_at !== null && (checkpoint_at === null || checkpoint_at < started_at)
  return [
    ...(unreachable_since === null ? [] : ['unreachable']),
    ...(reportsNothing(job, beside, now) ? ['no_report'] : []),
    ...(losesWork ? ['no_checkpoint'] : []),
    ...(logTruncated ? ['log_truncated'] : []),
  ]
}

/** How long a program may prepare itself before it is shown as one that reports nothing, in milliseconds. */
const quietMs = 60_000

/** Its program was started, and neither names a phase nor reports anything else. */
const reportsNothing = (
  { state, phase, executor_running_at, updated_at }: StoredRow,
  { step }: Beside,
  now: Date,
): boolean =>
  state === 'starting' &&
  executor_running_at !== null &&
  (phase === null || phase === 'launching') &&
  step === null &&
  now.getTime() - updated_at.getTime() > quietMs

/** `eta_s` assumes that the remaining steps take as long as the finished ones. */
function progressOf(
  step: number | null,
  total: number | null,
  runningSeconds: number | null,
): JobRow['progress'] {
  if (step === null) return null
  const fraction = total === null ? null : Math.min(1, Math.max(0, step / total))
  const eta_s =
    total === null || runningSeconds === null || step <= 0
      ? null
      : Math.round((Math.max(0, total - step) * runningSeconds) / step)
  return { step, total_steps: total, fraction, eta_s }
}
