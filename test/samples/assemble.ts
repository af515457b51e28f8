import { pino } from 'pino'
import { type Clock, systemClock } from '../../platform/time.ts'
import { assemble, type Service } from '../../server/assemble.ts'
import { readConfig } from '../../server/settings/config.ts'
import { adminPassword } from '../servers/api.ts'

export const metricsToken = 'metrics-token-of-the-scraper'

type Place = {
  databaseUrl: string
  dataDir: string
  /** Default: the system clock. */
  now?: Clock
  roles?: string
}

/** A server in this process, without an executor, so that jobs stay unchanged. */
export function assembleSampleServer({
  databaseUrl,
  dataDir,
  now = systemClock,
  roles = 'command-api,relay,projector,query-api',
}: Place): Promise<Service> {
  const config = readConfig({
    SERVICE_PORT: '0',
    SERVICE_DATA_DIR: dataDir,
    SERVICE_DATABASE_URL: databaseUrl,
    SERVICE_INIT_ADMIN_PASSWORD: adminPassword,
    SERVICE_METRICS_TOKEN: metricsToken,
    SERVICE_TRUSTED_PROXY_HOPS: '1',
    SERVICE_ENGINE_HOSTS: '127.0.0.1',
    SERVICE_ROLES: roles,
  })
  return assemble(config, { logger: pino({ level: 'silent' }), version: 'test', now })
}
