import { destination } from 'pino'
import { createLogger } from '../../platform/logger.ts'
import { assemble, type Service } from '../../server/assemble.ts'
import { type Config, readConfig } from '../../server/settings/config.ts'
import { patient } from './patience.ts'

/** Above the default of two seconds, within which a busy machine may not project a test's write. */
const readWaitMs = 20_000

/** Elsewhere a read may time out, as some tests require. */
const projectsAtOnce = ({ roles, kafkaBrokers }: Config): boolean =>
  roles.includes('relay') && roles.includes('projector') && kafkaBrokers.length === 0

/** A server in this process, as `main.ts` would start it with these variables; its log goes to a file. */
export function assembled(
  env: Record<string, string | undefined>,
  logFile: string,
): Promise<Service> {
  const settings = Object.entries(env).filter(([name]) => name.startsWith('SERVICE_'))
  const config = readConfig(Object.fromEntries(settings))
  const logger = createLogger(config.logLevel, false, destination({ dest: logFile, sync: true }))
  const waiting = projectsAtOnce(config) ? { readWaitMs: patient(readWaitMs) } : {}
  return assemble(config, { logger, version: '0.0.0-test', ...waiting })
}
