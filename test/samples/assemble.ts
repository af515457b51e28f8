import { pino } from 'pino'
import { assemble, type Service } from '../../server/assemble.ts'
import { readConfig } from '../../server/settings/config.ts'
import { adminPassword } from '../servers/api.ts'

export const metricsToken = 'metrics-token-of-the-scraper'

/** A server in this process, without an executor, so that jobs stay unchanged. */
export function assembleSampleServer({
  databaseUrl,
  dataDir,
}: {
  databaseUrl: string
  dataDir: string
}): Promise<Service> {
  const config = readConfig({
    SERVICE_PORT: '0',
    SERVICE_DATA_DIR: dataDir,
    SERVICE_DATABASE_URL: databaseUrl,
    SERVICE_INIT_ADMIN_PASSWORD: adminPassword,
    SERVICE_METRICS_TOKEN: metricsToken,
    SERVICE_TRUSTED_PROXY_HOPS: '1',
    SERVICE_ENGINE_HOSTS: '127.0.0.1',
    SERVICE_ROLES: 'command-api,relay,projector,query-api',
  })
  return assemble(config, { logger: pino({ level: 'silent' }), version: 'test' })
}
