import type { JobState } from '../../../../../schemas/jobs/states.ts'

/** In the order of the menu. */
export const actions = [
  'resume',
  'pause',
  'retry',
  'clone',
  'diagnose',
  'tags',
  'archive',
  'unarchive',
  'stop',
  'forceStop',
  'delete',
  'restore',
] as const
export type Action = (typeof actions)[number]

/** The input of the rules: the state of the job, or of a run without one. */
export type Now = {
  state: string
  isJob: boolean
  isDeleted: boolean
  isArchived: boolean
  /** Nobody knows whether its process still exists. */
  isSilent?: boolean
}

const ended = ['succeeded', 'failed', 'stopped', 'abandoned']
const unpausable = [...ended, 'admitted', 'held', 'pausing', 'paused', 'stopping']

const isOver = ({ state }: Now) => ended.includes(state)

const rules: Readonly<Record<Exclude<Action, 'restore'>, (now: Now) => boolean>> = {
  stop: now => !isOver(now) && now.state !== 'stopping',
  forceStop: now => !isOver(now),
  delete: isOver,
  clone: ({ isJob }) => isJob,
  tags: () => true,
  archive: ({ isArchived }) => !isArchived,
  unarchive: ({ isArchived }) => isArchived,
  diagnose: ({ state }) => state !== 'succeeded',
  retry: now => now.isJob && isOver(now),
  pause: ({ isJob, state }) => isJob && !unpausable.includes(state),
  resume: ({ isJob, state }) => isJob && state === 'paused',
}

/** Whether an action is possible now. The server decides; this only spares people a refusal that is certain. */
export const isPossible = (action: Action, now: Now): boolean =>
  action === 'restore' ? now.isDeleted : !now.isDeleted && rules[action](now)

/** The actions that people most often want in a state. */
const likely: Readonly<Record<string, readonly Action[]>> = {
  paused: ['resume', 'stop'],
  stopping: ['forceStop'],
  succeeded: ['clone'],
  failed: ['retry', 'clone'],
  stopped: ['retry', 'clone'],
  abandoned: ['retry', 'clone'],
}

/** At most two actions as buttons; the menu has the others. */
export function offered(now: Now): { first: readonly Action[]; others: readonly Action[] } {
  const possible = actions.filter(action => isPossible(action, now))
  const usual = now.isSilent ? ['stop', 'forceStop'] : (likely[now.state] ?? ['pause', 'stop'])
  const wanted = now.isDeleted ? ['restore'] : usual
  const first = possible.filter(action => wanted.includes(action))
  return { first, others: possible.filter(action => !first.includes(action)) }
}

const withoutAttempt = ['admitted', 'held', 'queued', 'paused']

/** The state of a job right after an action, shown until the server reports it; null: the action does not change it. */
export function stateAfter(action: Action, state: JobState): JobState | null {
  const isWaiting = withoutAttempt.includes(state)
  if (action === 'stop' || action === 'forceStop') return isWaiting ? 'stopped' : 'stopping'
  if (action === 'pause') return isWaiting ? 'paused' : 'pausing'
  return action === 'resume' ? 'queued' : null
}
