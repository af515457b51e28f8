import { pino } from 'pino'
import { type Clock, systemClock } from '../../platform/time.ts'
import { assemble, type Service } from '../../server/assemble.ts'
import { readConfig } from '../../server/settings/config.ts'
import { startSmallHub } from '../hub-imports/small-hub.ts'
import { adminPassword } from '../servers/api.ts'

/** In the hub of the samples. */
export const sampleModel = 'samples/tiny'

export const metricsToken = 'metrics-token-of-the-scraper'

type Place = {
  databaseUrl: string
  dataDir: string
  /** Default: the system clock. */
  now?: Clock
  roles?: string
}

/** With which every owner writes to it. */
export const tokenOfSamples = 'hf_of_the_samples'

/** The hub of all servers of this process, with models that everybody may import. */
let hub: Promise<string> | null = null

async function hubOfSamples(): Promise<string> {
  const started = await startSmallHub()
  // The second is in the examples of the documentation.
  for (const model of [sampleModel, 'Qwen/Qwen3-8B'])
    started.commit(model, { 'config.json': '{}', 'model.safetensors': 'w'.repeat(2000) })
  started.writes.people.set(tokenOfSamples, 'samples')
  return started.url
}

/** A server in this process, without an executor, so that jobs stay unchanged. */
export async function assembleSampleServer({
  databaseUrl,
  dataDir,
  now = systemClock,
  roles = 'command-api,relay,projector,query-api',
}: Place): Promise<Service> {
  hub ??= hubOfSamples()
  const config = readConfig({
    SERVICE_HUB_ENDPOINT: await hub,
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
