import { destination } from 'pino'
import { type TryOut, tryOut } from '../../executor/node/isolation-trial.ts'
import { createLogger } from '../../platform/logger.ts'
import { assemble, type Service } from '../../server/assemble.ts'
import { type Config, readConfig } from '../../server/settings/config.ts'
import { patient } from './patience.ts'

/** Above the default of two seconds, within which a busy machine may not project a test's write. */
const readWaitMs = 20_000

/** Elsewhere a read may time out, as some tests require. */
const projectsAtOnce = ({ roles, kafkaBrokers }: Config): boolean =>
  roles.includes('relay') && roles.includes('projector') && kafkaBrokers.length === 0

const outcomes = new Map<string, ReturnType<TryOut>>()

/**
 * Each trial starts Python in an isolation, which takes 50 ms of processor time, and only the folders of the test differ.
 * Tests of the isolation itself run each trial. A trial as another user also opens folders.
 */
const tryOutOnce: TryOut = async (mode, ground) => {
  if (mode === 'user') return await tryOut(mode, ground)
  const { ids: _, runsDirectory: __, passed, ...others } = ground
  const key = passed.reduce(
    (text, folder) => text.replaceAll(folder, ''),
    JSON.stringify([mode, others]),
  )
  const outcome = outcomes.get(key) ?? tryOut(mode, ground)
  outcomes.set(key, outcome)
  if ((await outcome).fault !== null) outcomes.delete(key)
  return await outcome
}

/** A server in this process, as `main.ts` would start it with these variables; its log goes to a file. */
export function assembled(
  env: Record<string, string | undefined>,
  logFile: string,
): Promise<Service> {
  const settings = Object.entries(env).filter(([name]) => name.startsWith('SERVICE_'))
  const config = readConfig(Object.fromEntries(settings))
  const logger = createLogger(config.logLevel, false, destination({ dest: logFile, sync: true }))
  const waiting = projectsAtOnce(config) ? { readWaitMs: patient(readWaitMs) } : {}
  return assemble(config, { logger, version: '0.0.0-test', tryIsolation: tryOutOnce, ...waiting })
}
