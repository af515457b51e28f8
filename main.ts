import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { oidcOf } from './auth/oidc-settings.ts'
import { createLogger } from './platform/logger.ts'
import { BadConfig, redacted } from './platform/settings.ts'
import { assemble } from './server/assemble.ts'
import { type Config, readConfig } from './server/config.ts'

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, 'package.json'), 'utf8'))

/** Runs the server until SIGTERM or SIGINT; a second signal does not wait for what is left. */
export async function main(): Promise<void> {
  const config = configOrExit()
  const logger = createLogger(config.logLevel, process.stdout.isTTY)
  logger.info({ version, config: redacted(config) }, 'starting')
  const began = performance.now()
  const service = await assemble(config, logger, version).catch(error => {
    logger.fatal({ err: error }, 'could not start')
    console.error(error instanceof Error ? error.message : error)
    process.exit(1)
  })
  logger.info({ url: service.url, ms: Math.round(performance.now() - began) }, 'serving')
  announce(service.url, service.firstAdmin, oidcOf(config)?.name ?? null)
  const stop = (signal: NodeJS.Signals) => {
    process.once('SIGTERM', () => process.exit(1))
    process.once('SIGINT', () => process.exit(1))
    logger.info({ signal }, 'stopping')
    service.stop().then(
      () => process.exit(0),
      error => {
        logger.error({ err: error }, 'did not stop cleanly')
        process.exit(1)
      },
    )
  }
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
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
      'It is shown only now; change it after signing in.',
    )
  console.log(lines.join('\n'))
}

if (import.meta.main) await main()
