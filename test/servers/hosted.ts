/** The servers that tests run against. */
const serverNames = ['postgres', 'forge', 'kafka', 'redis', 's3', 'slurm', 'browser'] as const
export type ServerName = (typeof serverNames)[number]

/** Each lane has its own; the others are shared by all files of a run. */
export const inEachLane: readonly ServerName[] = ['postgres', 'forge']

/** Where the host of Forge servers finds the PostgreSQL of its lane. */
export const postgresVariable = 'FORGE_TEST_POSTGRES'

/** A running server with its data in a given folder. */
export type Hosted = { address: string; stop(): Promise<void> }
