import type {
  HoldingJob,
  PlacedJob,
  QueuePicture,
  QueueSwitches,
  WaitingJob,
} from '../../events/calculations/queue-picture.ts'
import type { QueueReason } from '../../schemas/jobs/jobs.ts'
import type { Sooner } from '../../schemas/queue.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'

/** The state of the queue, and a check of what the reader may see: not every job ahead is visible to them. */
export type Facts = {
  picture: QueuePicture
  switches: QueueSwitches
  maySee: (job: { owner: string; project: string }) => boolean
}

const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`
const gpusOf = (jobs: readonly { gpus: number }[]) => jobs.reduce((sum, { gpus }) => sum + gpus, 0)

const on = <J extends { executor: string }>(
  jobs: readonly J[],
  { executor }: { executor: string },
) => jobs.filter(job => job.executor === executor)

/** Total and free GPUs of an executor. */
function roomOn({ capacity, holding }: QueuePicture, job: { executor: string }) {
  const all = capacity.get(job.executor) ?? 0
  return { all, free: Math.max(0, all - gpusOf(on(holding, job))) }
}

/** Why a job waits, in words, with the numbers behind its reason. */
export function waitInWords(job: WaitingJob, facts: Facts): string {
  const { picture, switches } = facts
  switch (job.reason) {
    case 'queue_paused':
      return `The queue is paused${because(switches.reason)}; running jobs continue.`
    case 'draining':
      return `${job.executor} is being drained${because(drainOf(job, switches)?.reason)}; nothing new starts there.`
    case 'over_budget':
      return `A budget of ${job.owner}, of project ${job.project} or of its team is spent for this month, and holds its jobs.`
    case 'team_pool_in_use':
      return 'The pool of its team is in use, or its GPU-hours of the day are used up.'
    case 'quota_in_use':
      return quotaInWords(job, picture)
    case 'volume_in_use':
      return 'A run or a snapshot uses one of its volumes: one that writes has a volume for itself.'
    case 'behind_priority':
      return behindInWords(job, picture)
    case 'not_before':
      return `It is held until ${whenOf(job.not_before)}.`
    case 'retry_backoff':
      return `Its last attempt was lost; the next one starts after ${whenOf(job.not_before)}.`
    case 'held_approval':
      return 'It waits for an approval.'
    case 'waiting_gang':
      return gangInWords(job, picture)
    default:
      return capacityInWords(job, picture)
  }
}

const because = (reason: string | null | undefined) => (reason ? ` (${reason})` : '')
const whenOf = (at: Date | null) => (at === null ? 'later' : toTimestamp(at))

export const drainOf = ({ executor }: WaitingJob, { engines }: QueueSwitches) =>
  engines.find(({ engine, draining }) => draining && engine === executor)

function capacityInWords(job: WaitingJob, picture: QueuePicture): string {
  const { all, free } = roomOn(picture, job)
  if (job.gpus > all)
    return `It needs ${plural(job.gpus, 'GPU')}, and ${job.executor} has only ${all} now.`
  if (job.gpus <= free) return 'It is about to start.'
  return `It needs ${plural(job.gpus, 'GPU')}, and ${free} of ${all} are free.`
}

function gangInWords(job: WaitingJob, picture: QueuePicture): string {
  const { all, free } = roomOn(picture, job)
  const each = job.gpus / job.nodes
  const now = Math.min(job.nodes - 1, Math.floor(free / each))
  return `Its ${job.nodes} nodes of ${plural(each, 'GPU')} start together: there is room for ${now} of ${job.nodes} now, as ${free} of ${all} GPUs are free.`
}

function behindInWords(job: WaitingJob, { waiting }: QueuePicture): string {
  const place = waiting.findIndex(other => other.job.run_id === job.run_id)
  const ahead = on(
    waiting.slice(0, place).map(other => other.job),
    job,
  )
  const first = ahead.find(
    ({ reason }) => reason === 'waiting_capacity' || reason === 'waiting_gang',
  )
  const needs = first ? `, the first of which waits for ${plural(first.gpus, 'GPU')}` : ''
  return `${plural(ahead.length, 'job')} ${ahead.length === 1 ? 'is' : 'are'} ahead of it${needs}; no job overtakes one that waits for GPUs.`
}

function quotaInWords({ owner }: WaitingJob, { holding, roomOf }: QueuePicture): string {
  const own = holding.filter(job => job.owner === owner)
  const room = roomOf(owner)
  return `${owner} holds ${gpusOf(own)} of ${plural(room.gpus, 'GPU')} and ${own.length} of ${plural(room.jobs, 'job')} of the quota, or has used up the GPU-hours of the day.`
}

/** What would make a queued job start sooner, most certain first. */
export function soonerThan({ job, position }: PlacedJob, facts: Facts): Sooner[] {
  if (job.reason === 'queue_paused')
    return [{ kind: 'queue_resumed', detail: 'An administrator resumes the queue.' }]
  if (job.reason === 'quota_in_use') return [ownEnds(job, facts)]
  if (job.reason === 'over_budget')
    return [{ kind: 'budget_raised', detail: 'The budget is raised, or a new month begins (UTC).' }]
  if (job.reason === 'team_pool_in_use')
    return [
      {
        kind: 'pool_freed',
        detail:
          'Jobs of its team end, a new day begins (UTC), or an administrator enlarges the pool.',
      },
    ]
  return [
    ...(job.reason === 'draining' ? [undrained(job)] : smaller(job, position, facts)),
    ...otherProfiles(job, facts),
    ...firstEnd(job, facts),
  ]
}

const undrained = ({ executor }: WaitingJob): Sooner => ({
  kind: 'undrained',
  detail: `An administrator lets jobs start on ${executor} again.`,
})

/** Jobs of the same owner, some of which may be in projects that the reader cannot see. */
function ownEnds(job: WaitingJob, { picture, maySee }: Facts): Sooner {
  const own = byEnd(picture.holding.filter(({ owner }) => owner === job.owner))
  const seen = own.filter(maySee)
  const which = [
    ...seen.map(({ short_id }) => short_id),
    ...(seen.length < own.length ? ['one that you may not see'] : []),
  ]
  return {
    kind: 'own_job_ends',
    detail:
      own.length > 0
        ? `One of the jobs that hold the quota ends: ${which.join(', ')}.`
        : 'The GPU-hours of the day are used up: a new day (UTC), or a larger quota.',
    run_ids: seen.map(({ run_id }) => run_id),
  }
}

/** Jobs that wait for these are passed by others. */
const passed: readonly QueueReason[] = ['quota_in_use', 'over_budget', 'team_pool_in_use']

/** Only an executor's first waiting job gains by being smaller: the others wait for the jobs ahead of them. */
function smaller(job: WaitingJob, position: number, { picture }: Facts): Sooner[] {
  const { free } = roomOn(picture, job)
  const ahead = on(
    picture.waiting.slice(0, position - 1).map(other => other.job),
    job,
  )
  const isFirst = ahead.every(({ reason }) => reason !== null && passed.includes(reason))
  if (!isFirst || free === 0 || job.gpus <= free) return []
  const detail = `With ${plural(free, 'GPU')} instead of ${job.gpus} it would start now.`
  return [{ kind: 'smaller', detail, gpus: free }]
}

/** Profiles on other executors with enough free GPUs and no waiting jobs. */
function otherProfiles(job: WaitingJob, { picture, switches }: Facts): Sooner[] {
  const isClosed = (executor: string) =>
    switches.engines.some(({ engine, draining }) => draining && engine === executor)
  return picture.profiles
    .filter(({ executor, gpus }) => {
      const waits = picture.waiting.some(other => other.job.executor === executor)
      const { free } = roomOn(picture, { executor })
      return (
        executor !== job.executor &&
        !waits &&
        !isClosed(executor) &&
        gpus >= job.gpus &&
        free >= job.gpus
      )
    })
    .map(({ name, series }) => ({
      kind: 'other_profile',
      detail: `On profile ${name} (${series}) it would start now.`,
      profile: name,
    }))
}

function firstEnd(job: WaitingJob, { picture, maySee }: Facts): Sooner[] {
  const next = byEnd(on(picture.holding, job)).find(({ left_s }) => left_s !== null)
  if (!next) return []
  const named = maySee(next) ? next.short_id : 'a job that you may not see'
  const detail = `${named} is expected to end next, in about ${inWords(next.left_s ?? 0)}, and frees ${plural(next.gpus, 'GPU')}.`
  return [{ kind: 'ends_next', detail, ...(maySee(next) && { run_ids: [next.run_id] }) }]
}

type Ending = HoldingJob & { left_s: number | null }

/** Jobs with an unknown end come last. */
export const byEnd = (jobs: readonly Ending[]): Ending[] =>
  jobs.toSorted(
    (a, b) =>
      (a.left_s ?? Number.MAX_VALUE) - (b.left_s ?? Number.MAX_VALUE) ||
      (a.run_id < b.run_id ? -1 : 1),
  )

function inWords(seconds: number): string {
  if (seconds < 90) return plural(Math.round(seconds), 'second')
  if (seconds < 5400) return plural(Math.round(seconds / 60), 'minute')
  return plural(Math.round(seconds / 3600), 'hour')
}
