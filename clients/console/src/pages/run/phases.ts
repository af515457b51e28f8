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

export type Action = 'stop' | 'pause' | 'resume' | 'retry' | 'clone' | 'delete' | 'restore'

/** Why an action is not possible now, as a word of the page; null: it is. */
export type Reason =
  | 'notJob'
  | 'hasEnded'
  | 'notEnded'
  | 'notRunning'
  | 'notPaused'
  | 'deleted'
  | null

const ended = ['succeeded', 'failed', 'stopped', 'abandoned']

type Now = { state: string; isJob: boolean }

const unlessEnded = ({ state }: Now): Reason => (ended.includes(state) ? null : 'notEnded')
const whileGoing = ({ state }: Now): Reason => (ended.includes(state) ? 'hasEnded' : null)
const ofJob = ({ isJob }: Now): Reason => (isJob ? null : 'notJob')

const rules: Readonly<Record<Exclude<Action, 'restore'>, (now: Now) => Reason>> = {
  stop: whileGoing,
  delete: unlessEnded,
  clone: ofJob,
  retry: now => ofJob(now) ?? unlessEnded(now),
  pause: now => ofJob(now) ?? whileGoing(now) ?? (now.state === 'running' ? null : 'notRunning'),
  resume: now => ofJob(now) ?? (now.state === 'paused' ? null : 'notPaused'),
}

/** What can be done with a run in its state. The server decides; this only saves people an answer that is known. */
export function reasonAgainst(action: Action, run: RunRecord, job: JobDetail | null): Reason {
  if (action === 'restore') return null
  if (run.deleted_at !== null) return 'deleted'
  return rules[action]({ state: job?.state ?? run.state, isJob: run.job_exists })
}
