import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { oidcOf } from './auth/oidc-settings.ts'
import { CannotStart } from './platform/cannot-start.ts'
import { createLogger } from './platform/logger.ts'
import { untilAborted } from './platform/pause.ts'
import { BadConfig, redacted } from './platform/settings.ts'
import { assemble } from './server/assemble.ts'
import { type Config, readConfig } from './server/settings/config.ts'
import { stopSignal } from './server/stop-signals.ts'

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, 'package.json'), 'utf8'))

/** Runs the server until a signal asks it to stop. */
export async function main(): Promise<void> {
  const config = configOrExit()
  const logger = createLogger(config.logLevel, process.stdout.isTTY)
  // Printing all settings in a terminal would bury what a person has to read, such as the first password.
  logger.info({ version, ...(!process.stdout.isTTY && { config: redacted(config) }) }, 'starting')
  const began = performance.now()
  const stopping = stopSignal(logger)
  const service = await assemble(config, { logger, version, signal: stopping }).catch(error => {
    if (stopping.aborted) process.exit(0)
    sayWhy(error, logger)
    process.exit(1)
  })
  logger.info({ url: service.url, ms: Math.round(performance.now() - began) }, 'serving')
  announce(service.url, service.firstAdmin, oidcOf(config)?.name ?? null)
  await untilAborted(stopping)
  await service.stop()
  process.exit(0)
}

function sayWhy(error: unknown, logger: Logger): void {
  if (!(error instanceof CannotStart)) logger.fatal({ err: error }, 'could not start')
  console.error(error instanceof Error ? error.message : error)
}

function configOrExit(): Config {
  try {
    return readConfig(process.env)
  } catch (error) {
    if (!(error instanceof BadConfig)) throw error
    console.error(error.message)
    process.exit(2)
  }
}

function announce(
  url: string,
  firstAdmin: { username: string; password: string | null } | null,
  provider: string | null,
): void {
  const lines = [`Forge ${version} serves at ${url}`]
  if (firstAdmin?.password)
    lines.unshift(
      `Sign in as ${firstAdmin.username} with the password ${firstAdmin.password}${
        provider === null ? '' : `, which works only without ${provider}`
      }`,
      `It is shown only now, and must be replaced when you first sign in, within 24 hours; forge admin reset-password on this host makes another.`,
    )
  console.log(lines.join('\n'))
}

if (import.meta.main) await main()
