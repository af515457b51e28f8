import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { BadConfig } from '../../../platform/settings.ts'
import { readConfig } from '../../../server/config.ts'
import { serverProcess } from '../../servers/server-process.ts'

const faultsOf = (env: Record<string, string>): readonly string[] => {
  try {
    readConfig(env)
    return []
  } catch (error) {
    if (error instanceof BadConfig) return error.faults
    throw error
  }
}

test('settings of isolation are checked at the start', t => {
  t.like(readConfig({}), { localIsolation: 'auto', localReadable: [] })
  t.deepEqual(readConfig({}).localIds, { first: 1_900_000_000, count: 65_536 })
  t.deepEqual(readConfig({ SERVICE_LOCAL_USER_IDS: '70000-70099' }).localIds, {
    first: 70_000,
    count: 100,
  })
  for (const range of ['0-65535', '70099-70000', '70000-70001', '5', '1-4294967295'])
    t.is(faultsOf({ SERVICE_LOCAL_USER_IDS: range }).length, 1, range)
  t.is(faultsOf({ SERVICE_LOCAL_ISOLATION: 'docker' }).length, 1)
  t.deepEqual(faultsOf({ SERVICE_LOCAL_WRITABLE: '/data,models' }), [
    'SERVICE_LOCAL_WRITABLE: models is no absolute path',
  ])
})

test('a server without isolation says so in its log and in readyz, and is ready', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'forge-open-'))
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
  const server = await serverProcess({
    folder,
    env: { SERVICE_LOCAL_ISOLATION: 'none', SERVICE_METRICS_TOKEN: 'scraper' },
  })
  t.teardown(() => server.stop())
  await server.start()
  const response = await fetch(`${server.url}/api/readyz`, {
    headers: { authorization: 'Bearer scraper' },
  })
  t.is(response.status, 200)
  const { checks } = (await response.json()) as { checks: Record<string, unknown> }
  t.like(checks.isolation, { ok: true, mode: 'none' })
  const told = /Runs are not isolated: submitting a job is a shell on the server/
  t.regex(JSON.stringify(checks.isolation), told)
  t.regex(server.output(), told)
  const anybody = await (await fetch(`${server.url}/api/readyz`)).text()
  t.notRegex(anybody, /shell|isolated/, 'nobody else needs to know')
})
