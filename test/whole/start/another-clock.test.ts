import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { pino } from 'pino'
import { assemble } from '../../../server/assemble.ts'
import { readConfig } from '../../../server/settings/config.ts'
import { adminPassword, askApi, signIn } from '../../servers/api.ts'
import { database } from '../../servers/postgres.ts'

test('a server with an injected clock decides, signs and serves by it', async t => {
  const dataDir = await mkdtemp(join(tmpdir(), 'forge-test-clock-'))
  t.teardown(() => rm(dataDir, { recursive: true, force: true }))
  const config = readConfig({
    SERVICE_PORT: '0',
    SERVICE_DATA_DIR: dataDir,
    SERVICE_DATABASE_URL: (await database(t)).url,
    SERVICE_INIT_ADMIN_PASSWORD: adminPassword,
    SERVICE_ROLES: 'command-api,relay,projector,query-api',
  })
  const now = () => new Date('2040-02-29T23:59:59Z')
  const logger = pino({ level: 'silent' })
  const { url, stop } = await assemble(config, { logger, version: 'test', now })
  t.teardown(stop)
  const token = await signIn(url)
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
  t.is(claims.iat, now().getTime() / 1000)
  const path = '/api/rubrics/admin/helpful'
  const body = { name: 'helpful', criteria: [{ name: 'a' }] }
  await askApi(url, 'PUT', path, { token, body })
  const rubric = await askApi<{ created_at: string }>(url, 'GET', path, { token })
  t.is(Date.parse(rubric.created_at), now().getTime())
})
