import type { Logger } from 'pino'
import { type Assets, readAssets } from '../../query-api/pages/assets.ts'
import { buildConsole } from './build.ts'

/** The console, built first if its sources have changed. The API is served even without it. */
export async function consoleAssets(logger: Logger): Promise<Assets | null> {
  try {
    return readAssets(await buildConsole(text => logger.info(text)))
  } catch (error) {
    logger.error({ err: error }, 'the console is not served')
    return null
  }
}
