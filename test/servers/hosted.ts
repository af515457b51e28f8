/** The servers that tests run against. */
const serverNames = ['postgres', 'forge', 'kafka', 'redis', 's3', 'slurm', 'browser'] as const
export type ServerName = (typeof serverNames)[number]

/** Each lane has its own; the others are shared by all files of a run. */
export const inEachLane: readonly ServerName[] = ['postgres', 'forge']

/** A running server with its data in a given folder. */
export type Hosted = { address: string; stop(): Promise<void> }
