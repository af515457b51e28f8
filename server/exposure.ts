import type { Logger } from 'pino'
import type { Config } from './settings/config.ts'

export const isHttps = ({ baseUrl }: Pick<Config, 'baseUrl'>): boolean =>
  baseUrl?.startsWith('https:') === true

const isLoopback = (host: string) => /^(localhost|127\.\d+\.\d+\.\d+|::1|\[::1\])$/.test(host)

/** Warns at each start if passwords and tokens may cross a network unencrypted. */
export function warnIfExposed(
  config: Pick<Config, 'host' | 'baseUrl'>,
  logger: Pick<Logger, 'warn'>,
): void {
  if (isLoopback(config.host) || isHttps(config)) return
  logger.warn(
    { host: config.host, base_url: config.baseUrl },
    'This address can be reached from other machines without TLS, so passwords and tokens can be read on the way. ' +
      'Put a proxy with TLS in front and set SERVICE_BASE_URL to its https address.',
  )
}
