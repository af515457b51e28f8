/** The servers that tests run against, and `installation`: their initial state. */
const serverNames = [
  'installation',
  'postgres',
  'forge',
  'kafka',
  'redis',
  's3',
  'slurm',
  'browser',
] as const
export type ServerName = (typeof serverNames)[number]

/** Each lane has its own; the others are shared by all files of a run. */
export const inEachLane: readonly ServerName[] = ['postgres', 'forge']

/** Where the PostgreSQL of a lane finds the installation that it copies. */
export const installationVariable = 'FORGE_TEST_INSTALLATION'

/** A running server with its data in a given folder. */
export type Hosted = { address: string; stop(): Promise<void> }

/** The initial state of each installation of the tests: the first start, done once a run. */
export type Installation = {
  /** The folder of a stopped PostgreSQL, to be copied by each lane. */
  postgres: string
  /** The database to copy: with its administrator, who is signed in. */
  template: string
  token: string
  /** The signing keys, PEM by file name. */
  keys: Record<string, string>
}
