/** The servers that tests run against, with two states that they start from: `installation` and `samples`. */
const serverNames = [
  'installation',
  'samples',
  'postgres',
  'samples-postgres',
  'forge',
  'kafka',
  'redis',
  's3',
  'slurm',
  'browser',
] as const
export type ServerName = (typeof serverNames)[number]

/** Each lane has its own; the others are shared by all files of a run. */
export const inEachLane: readonly ServerName[] = ['postgres', 'samples-postgres', 'forge']

/** The state whose cluster a server copies. */
export const copiedBy: Partial<Record<ServerName, ServerName>> = {
  samples: 'installation',
  postgres: 'installation',
  'samples-postgres': 'samples',
}

/** Where the server finds that state. */
export const copiedVariable = 'FORGE_TEST_COPIED'

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
