import { join, resolve } from 'node:path'
import type { Logger } from 'pino'
import { CannotStart } from '../../platform/cannot-start.ts'
import { findEmbeddedPostgres, startEmbeddedPostgres } from '../../platform/postgres/embedded.ts'
import { Refusal } from '../../platform/refusal.ts'
import { BadConfig } from '../../platform/settings.ts'
import type { Config } from '../settings/config.ts'

export type OwnDatabase = { url: string; stop(): Promise<void> }

/** For programs on the server's host: the configured database, else the embedded one, running or started temporarily. */
export async function openDatabase(
  config: Pick<Config, 'databaseUrl' | 'dataDir'>,
  logger: Logger,
): Promise<OwnDatabase> {
  const staying = (url: string) => ({ url, stop: async () => {} })
  if (config.databaseUrl !== null) return staying(config.databaseUrl)
  const directory = join(resolve(config.dataDir), 'postgres')
  const running = await findEmbeddedPostgres(directory)
  return running === null ? await startEmbeddedPostgres({ directory, logger }) : staying(running)
}

/** The message about a failure, for the person who called the program. */
export function explain(error: unknown): string {
  if ([CannotStart, BadConfig, Refusal].some(kind => error instanceof kind))
    return (error as Error).message
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'EACCES') return `${message}; run this as the user who runs the server`
  return message
}
