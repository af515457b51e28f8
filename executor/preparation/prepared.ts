/** What a preparation writes to descriptor 3: the command to run, variables for it, and what it must be able to read. */
export type Prepared = { command: string[]; env: Record<string, string>; readable: string[] }

/** sysexits(3) EX_CONFIG: the run's own program never started. */
export const cannotLaunch = 78
