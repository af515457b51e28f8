import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { pino } from 'pino'
import { signAccessToken } from '../../auth/access-token.ts'
import { loadKeys } from '../../auth/keys.ts'
import { assemble } from '../../server/assemble.ts'
import { readConfig } from '../../server/config.ts'
import { adminPassword } from '../servers/api.ts'
import { database } from '../servers/postgres.ts'
import { makeSamples, missingOf, newPerson } from './make.ts'
import type { SampleServer } from './sample.ts'
import { asked, bearer, sender, signIn } from './send.ts'

const friend = 'friend-of-all'
const metricsToken = 'metrics-token-of-the-scraper'

/** The server, with people who each have one of everything. */
export async function sampleServer(t: ExecutionContext): Promise<SampleServer> {
  const { routes, send, dataDir, pool } = await startServer(t)
  const admin = await signIn(send, 'admin', adminPassword)
  const operator = await newPerson(send, admin, 'ada-operator')
  const another = await newPerson(send, admin, 'bob-another')
  await newPerson(send, admin, friend)
  await asked(send, admin, {
    method: 'PUT',
    path: '/api/admin/profiles/spare',
    body: { series: 'X', gpus_per_node: 1, executor: 'local' },
  })
  const admins = await makeSamples({ send, pool }, { owner: admin, friend })
  const operators = await makeSamples({ send, pool }, { owner: operator, friend })
  const anothers = await makeSamples({ send, pool }, { owner: another, friend })
  const ended = await signIn(send, 'admin', adminPassword)
  await send({ method: 'POST', path: '/api/auth/logout', headers: bearer(ended.token) })
  const { ingest } = operators.tokens
  return {
    pool,
    dataDir,
    routes,
    send,
    people: { admin, operator, another },
    fixtures: {
      admin: admins,
      operator: operators,
      another: anothers,
      missing: missingOf(operators, 'nobody'),
      free: missingOf(operators, 'somebody'),
    },
    newPerson: username => newPerson(send, admin, username),
    credentials: {
      admin: bearer(admin.token),
      operator: bearer(operator.token),
      'ingest token': bearer(ingest),
      'ingest token in its own header': { 'x-service-token': ingest },
      'ingest token of another run': bearer(anothers.tokens.ingest),
      'ended ingest token': bearer(operators.tokens.ended),
      'refresh cookie': { cookie: operator.cookie },
      'refresh cookie of an ended session': { cookie: ended.cookie },
      'deployment token': bearer(ingest.replace(/^fit_/, 'fdt_')),
      'metrics token': bearer(metricsToken),
      expired: bearer(await expired(dataDir, admin.token)),
      revoked: bearer(ended.token),
      malformed: bearer(`${admin.token.slice(0, -2)}==`),
      'no bearer': { authorization: admin.token },
      none: {},
    },
    async ownSession(kind) {
      const person = kind === 'admin' ? admin : operator
      const { token, cookie } = await signIn(send, person.username, person.password)
      return kind === 'refresh cookie' ? { cookie } : bearer(token)
    },
  }
}

async function startServer(t: ExecutionContext) {
  const dataDir = await mkdtemp(join(tmpdir(), 'forge-test-'))
  t.teardown(() => rm(dataDir, { recursive: true, force: true }))
  const { url: databaseUrl, pool } = await database(t)
  const config = readConfig({
    SERVICE_PORT: '0',
    SERVICE_DATA_DIR: dataDir,
    SERVICE_DATABASE_URL: databaseUrl,
    SERVICE_INIT_ADMIN_PASSWORD: adminPassword,
    SERVICE_METRICS_TOKEN: metricsToken,
    SERVICE_TRUSTED_PROXY_HOPS: '1',
    SERVICE_ENGINE_HOSTS: '127.0.0.1',
    // Without an executor, so that jobs stay unchanged.
    SERVICE_ROLES: 'command-api,relay,projector,query-api',
  })
  const service = await assemble(config, { logger: pino({ level: 'silent' }), version: 'test' })
  t.teardown(service.stop)
  return { dataDir, pool, routes: service.routes, send: sender(service.url) }
}

/** The claims of a live token, an hour after its end, signed by the server's own key. */
async function expired(dataDir: string, token: string): Promise<string> {
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
  const { iss: _iss, aud: _aud, ...own } = claims
  const exp = Math.floor(Date.now() / 1000) - 3600
  return signAccessToken(await loadKeys(dataDir), { ...own, iat: exp - 3600, exp })
}
