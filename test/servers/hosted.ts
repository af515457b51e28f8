/** The servers tests run against, and the variable that carries the address of each. */
export const variables = {
  postgres: 'FORGE_TEST_POSTGRES',
  kafka: 'FORGE_TEST_KAFKA',
  redis: 'FORGE_TEST_REDIS',
  s3: 'FORGE_TEST_S3',
  slurm: 'FORGE_TEST_SLURM_CLUSTER',
  browser: 'FORGE_TEST_BROWSER',
} as const
export type ServerName = keyof typeof variables

/** A running server with its data in a given folder. */
export type Hosted = { address: string; stop(): Promise<void> }
