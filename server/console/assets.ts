import type { Logger } from 'pino'
import { basePathOf } from '../../platform/http/base-path.ts'
import { type Assets, readAssets } from '../../query-api/pages/assets.ts'
import type { Config } from '../settings/config.ts'
import { buildConsole } from './build.ts'

let built: Promise<string> | null = null

/** Looked at once per process: its sources belong to its code. A build that failed is tried again. */
function builtOnce(logger: Logger): Promise<string> {
  built ??= buildConsole(text => logger.info(text)).catch(error => {
    built = null
    throw error
  })
  return built
}

/** The console at the path of the public address, built first if its sources have changed. The API is served even without it. */
export async function consoleAssets(
  logger: Logger,
  { baseUrl }: Pick<Config, 'baseUrl'>,
): Promise<Assets | null> {
  try {
    return readAssets(await builtOnce(logger), basePathOf(baseUrl ?? 'http://localhost'))
  } catch (error) {
    logger.error({ err: error }, 'the console is not served')
    return null
  }
}
