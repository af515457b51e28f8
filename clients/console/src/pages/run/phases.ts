import type { Static } from 'typebox'
import type { jobDetail } from '../../../../../schemas/jobs/jobs.ts'
import type { RunRecord } from './use-run.ts'

export type JobDetail = Static<typeof jobDetail>

/** `seconds` null: still under way, or the end. */
export type Phase = { name: string; at: string; seconds: number | null; isBilled: boolean }

const isRunning = (state: string) => ['running', 'pausing', 'stopping'].includes(state)

/** The phases of a run, and how long each took. The time from the reported `running` onwards is billed. */
export function phasesOf(run: RunRecord, job: JobDetail | null): Phase[] {
  if (job)
    return job.transitions.map(({ at, to, reason, spent_s }) => ({
      name: reason !== null && to === 'starting' ? reason : to,
      at,
      seconds: spent_s,
      isBilled: isRunning(to),
    }))
  const { created_at, started_at, ended_at } = run
  const marks: [name: string, at: string | null, seconds: number | null][] = [
    ['pending', created_at, secondsBetween(created_at, started_at ?? ended_at)],
    ['running', started_at, ended_at === null ? null : run.duration_s],
    [run.state, ended_at, null],
  ]
  return marks.flatMap(([name, at, seconds]) =>
    at === null ? [] : [{ name, at, seconds, isBilled: false }],
  )
}

const secondsBetween = (from: string, to: string | null): number | null =>
  to === null ? null : (Date.parse(to) - Date.parse(from)) / 1000

/**
 * How long a run has run: since `from` while it is running, otherwise `seconds`. Time spent waiting or paused between
 * attempts does not count. Null: it has not run yet, or its job is starting.
 */
export function ranOf(
  run: RunRecord,
  job: JobDetail | null,
): { from: string } | { seconds: number } | null {
  if (run.started_at === null || (run.job_exists && job === null)) return null
  if (job === null)
    return run.ended_at === null ? { from: run.started_at } : { seconds: run.duration_s ?? 0 }
  const now = job.transitions.at(-1)
  if (now === undefined || !isRunning(now.to))
    return job.running_s === null ? null : { seconds: job.running_s }
  const before = job.transitions.filter(({ to }) => isRunning(to))
  const seconds = before.reduce((sum, { spent_s }) => sum + (spent_s ?? 0), 0)
  return { from: new Date(Date.parse(now.at) - seconds * 1000).toISOString() }
}

/** When the attempts after the first began, in milliseconds of the epoch. */
export const attemptStarts = ({ attempts }: Pick<JobDetail, 'attempts'>): number[] =>
  attempts
    .flatMap(({ started_at }) => (started_at === null ? [] : [Date.parse(started_at)]))
    .sort((a, b) => a - b)
    .slice(1)
