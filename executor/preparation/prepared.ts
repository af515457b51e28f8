import type { Mount } from '../attempts/enclosure.ts'

/**
 * The result that a preparation writes to descriptor 3: the command to run, its variables, the paths that it must read, and its
 * volumes.
 */
export type Prepared = {
  command: string[]
  env: Record<string, string>
  readable: string[]
  mounts: readonly Mount[]
}

/** sysexits(3) EX_CONFIG: the run's own program never started. */
export const cannotLaunch = 78
