// The names of states, without the schemas: the console needs these alone.

export const jobStates = [
  'admitted',
  'held',
  'queued',
  'scheduled',
  'starting',
  'running',
  'pausing',
  'paused',
  'stopping',
  'succeeded',
  'failed',
  'stopped',
] as const
export type JobState = (typeof jobStates)[number]

export const runStates = [
  'pending',
  'running',
  'succeeded',
  'failed',
  'stopped',
  'abandoned',
] as const

/** What lists are filtered by: a state of runs, or of their jobs, which have more. */
export const searchedStates = [
  ...runStates,
  ...jobStates.filter(state => !runStates.some(one => one === state)),
] as const
