import type { Static } from 'typebox'
import type { jobDetail } from '../../../../../schemas/jobs.ts'
import type { RunRecord } from './use-run.ts'

export type JobDetail = Static<typeof jobDetail>

/** `seconds` null: it goes on, or is the end. */
export type Phase = { name: string; at: string; seconds: number | null; isBilled: boolean }

/** What a run went through, and for how long. The time from the reported `running` on is billed. */
export function phasesOf(run: RunRecord, job: JobDetail | null): Phase[] {
  if (job)
    return job.transitions.map(({ at, to, reason, spent_s }) => ({
      name: reason !== null && to === 'starting' ? reason.replaceAll('_', ' ') : to,
      at,
      seconds: spent_s,
      isBilled: ['running', 'pausing', 'stopping'].includes(to),
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

/** When the attempts after the first began, in milliseconds of the epoch. */
export const attemptStarts = ({ attempts }: Pick<JobDetail, 'attempts'>): number[] =>
  attempts
    .flatMap(({ started_at }) => (started_at === null ? [] : [Date.parse(started_at)]))
    .sort((a, b) => a - b)
    .slice(1)
