import { destination } from 'pino'
import { createLogger } from '../../platform/logger.ts'
import { assemble, type Service } from '../../server/assemble.ts'
import { readConfig } from '../../server/config.ts'
import { patient } from './patience.ts'

/** Above the two seconds of an installation, within which a busy machine may not project what a test wrote. */
const readWaitMs = 20_000

/** A server in this process, as `main.ts` would start it with these variables; what it logs goes to a file. */
export function assembled(
  env: Record<string, string | undefined>,
  logFile: string,
): Promise<Service> {
  const settings = Object.entries(env).filter(([name]) => name.startsWith('SERVICE_'))
  const config = readConfig(Object.fromEntries(settings))
  const logger = createLogger(config.logLevel, false, destination({ dest: logFile, sync: true }))
  return assemble(config, { logger, version: '0.0.0-test', readWaitMs: patient(readWaitMs) })
}
