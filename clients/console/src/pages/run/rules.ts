import type { JobState } from '../../../../../schemas/jobs/jobs.ts'

export const actions = [
  'stop',
  'forceStop',
  'pause',
  'resume',
  'retry',
  'clone',
  'diagnose',
  'tags',
  'delete',
] as const
export type Action = (typeof actions)[number] | 'restore'

/** Why an action is not possible now, as a word of the page; null: it is possible. */
export type Reason =
  | 'notJob'
  | 'hasEnded'
  | 'hasSucceeded'
  | 'notEnded'
  | 'notBegun'
  | 'isStopping'
  | 'isPausing'
  | 'isPaused'
  | 'notPaused'
  | 'deleted'
  | null

/** The input of the rules: the state of the job, or of a run without one. */
export type Now = { state: string; isJob: boolean; isDeleted: boolean }

const ended = ['succeeded', 'failed', 'stopped', 'abandoned']

const unlessEnded = ({ state }: Now): Reason => (ended.includes(state) ? null : 'notEnded')
const whileGoing = ({ state }: Now): Reason => (ended.includes(state) ? 'hasEnded' : null)
const ofJob = ({ isJob }: Now): Reason => (isJob ? null : 'notJob')

const againstPause: Readonly<Record<string, Reason>> = {
  admitted: 'notBegun',
  held: 'notBegun',
  pausing: 'isPausing',
  paused: 'isPaused',
  stopping: 'isStopping',
}

const rules: Readonly<Record<Exclude<Action, 'restore'>, (now: Now) => Reason>> = {
  stop: now => whileGoing(now) ?? (now.state === 'stopping' ? 'isStopping' : null),
  forceStop: whileGoing,
  delete: unlessEnded,
  clone: ofJob,
  tags: ofJob,
  diagnose: ({ state }) => (state === 'succeeded' ? 'hasSucceeded' : null),
  retry: now => ofJob(now) ?? unlessEnded(now),
  pause: now => ofJob(now) ?? whileGoing(now) ?? againstPause[now.state] ?? null,
  resume: now => ofJob(now) ?? (now.state === 'paused' ? null : 'notPaused'),
}

/** The actions possible in a run's state. The server decides; this only spares people a refusal that is certain. */
export function reasonAgainst(action: Action, now: Now): Reason {
  if (action === 'restore') return null
  return now.isDeleted ? 'deleted' : rules[action](now)
}

const withoutAttempt = ['admitted', 'held', 'queued', 'paused']

/** The state of a job right after an action, shown until the server reports it; null: the action does not change it. */
export function stateAfter(action: Action, state: JobState): JobState | null {
  const isWaiting = withoutAttempt.includes(state)
  if (action === 'stop' || action === 'forceStop') return isWaiting ? 'stopped' : 'stopping'
  if (action === 'pause') return isWaiting ? 'paused' : 'pausing'
  return action === 'resume' ? 'queued' : null
}
