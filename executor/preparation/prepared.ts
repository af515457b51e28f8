/** The result that a preparation writes to descriptor 3: the command to run, its variables, and the paths that it must read. */
export type Prepared = { command: string[]; env: Record<string, string>; readable: string[] }

/** sysexits(3) EX_CONFIG: the run's own program never started. */
export const cannotLaunch = 78
