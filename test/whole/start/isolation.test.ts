import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { pino } from 'pino'
import { tryOut } from '../../../executor/node/isolation-trial.ts'
import type { Readiness } from '../../../platform/readiness.ts'
import { openIsolation } from '../../../server/roles/isolation.ts'
import { readConfig } from '../../../server/settings/config.ts'
import { whatHolds } from '../../executor/what-holds.ts'
import { configFaults } from '../../servers/config-faults.ts'
import { serverProcess } from '../../servers/server-process.ts'

test('settings of isolation are checked at the start', t => {
  t.like(readConfig({}), { localIsolation: 'auto', localReadable: [] })
  t.deepEqual(readConfig({}).localIds, { first: 1_900_000_000, count: 65_536 })
  t.deepEqual(readConfig({ SERVICE_LOCAL_USER_IDS: '70000-70099' }).localIds, {
    first: 70_000,
    count: 100,
  })
  for (const range of ['0-65535', '70099-70000', '70000-70001', '5', '1-4294967295'])
    t.is(configFaults({ SERVICE_LOCAL_USER_IDS: range }).length, 1, range)
  t.is(configFaults({ SERVICE_LOCAL_ISOLATION: 'docker' }).length, 1)
  t.like(readConfig({}), { localProcesses: 16_384, localMemory: null })
  t.is(readConfig({ SERVICE_LOCAL_MAX_MEMORY_GB: '2' }).localMemory, 2 * 1024 ** 3)
  for (const [name, value] of [
    ['SERVICE_LOCAL_MAX_PROCESSES', '8'],
    ['SERVICE_LOCAL_MAX_MEMORY_GB', '0'],
    ['SERVICE_LOCAL_MAX_MEMORY_GB', '1.5'],
  ] as const)
    t.is(configFaults({ [name]: value }).length, 1, `${name}=${value}`)
  t.deepEqual(configFaults({ SERVICE_LOCAL_WRITABLE: '/data,models' }), [
    'SERVICE_LOCAL_WRITABLE: models is not an absolute path',
  ])
  t.deepEqual(configFaults({ SERVICE_LOCAL_ENVIRONMENTS: 'environments' }), [
    'SERVICE_LOCAL_ENVIRONMENTS: environments is not an absolute path',
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

/** The folders opened to runs with these settings, or why the server would not start. */
async function openedWith(t: ExecutionContext, env: (folder: string) => Record<string, string>) {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'forge-opened-')))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  for (const name of ['data', 'sets/own', 'data/inside'])
    await mkdir(join(folder, name), { recursive: true })
  await symlink(join(folder, 'sets'), join(folder, 'link'))
  await symlink(join(folder, 'data'), join(folder, 'disguise'))
  await writeFile(join(folder, 'sets', 'own', 'secret'), 'secret')
  const given = { SERVICE_DATA_DIR: join(folder, 'data'), SERVICE_LOCAL_ISOLATION: 'none' }
  const config = readConfig({ ...given, ...env(folder) })
  const logger = pino({ level: 'silent' })
  const opening = openIsolation(
    { config, logger, tryIsolation: tryOut },
    join(config.dataDir, 'runs'),
  )
  return opening.then(
    ({ ground }) => ({ folder, ground, refused: '' }),
    (error: Error) => ({ folder, ground: null, refused: error.message }),
  )
}

for (const setting of ['SERVICE_LOCAL_READABLE', 'SERVICE_LOCAL_WRITABLE'])
  test(`${setting} must not overlap with folders that no run may reach`, async t => {
    const refusal = async (name: string, more: Record<string, string> = {}) => {
      const env = (folder: string) => ({
        [setting]: join(folder, name),
        ...Object.fromEntries(Object.entries(more).map(([key, file]) => [key, join(folder, file)])),
      })
      return (await openedWith(t, env)).refused
    }
    t.regex(await refusal('data'), new RegExp(`${setting}=.*/data is inside .*/data, .*outside it`))
    t.regex(await refusal('data/inside'), /inside is inside .*\/data, which no run may reach: move/)
    t.regex(await refusal('disguise/inside'), /disguise\/inside is inside .*\/data,/)
    t.regex(await refusal('.'), /contains .*\/data, .*name only those of its folders/)
    const secret = { SERVICE_KEYS_SECRET_FILE: 'sets/own/secret' }
    t.regex(await refusal('link', secret), /link contains .*\/sets\/own\/secret, which no run/)
    t.is(await refusal('link'), '')
    const { ground, folder } = await openedWith(t, at => ({ [setting]: join(at, 'link') }))
    const opened = setting === 'SERVICE_LOCAL_READABLE' ? ground?.readable : ground?.writable
    t.deepEqual(opened, [join(folder, 'link'), join(folder, 'sets')], 'by both of its names')
  })

test('folders of private keys are refused, too', async t => {
  const env = () => ({ SERVICE_LOCAL_READABLE: '/etc/ssl' })
  t.regex((await openedWith(t, env)).refused, /contains \/etc\/ssl\/private, which no run may/)
})

test('files from which the server reads secrets, and its backups, are hidden from runs', async t => {
  const { ground, folder } = await openedWith(t, at => ({
    SERVICE_KEYS_SECRET_FILE: join(at, 'link', 'own', 'secret'),
    SERVICE_KAFKA_TLS: 'on',
    SERVICE_KAFKA_TLS_CERT_FILE: join(at, 'cert.pem'),
    SERVICE_KAFKA_TLS_KEY_FILE: join(at, 'key.pem'),
    SERVICE_KAFKA_SASL_MECHANISM: 'PLAIN',
    SERVICE_KAFKA_SASL_USERNAME: 'forge',
    SERVICE_KAFKA_SASL_PASSWORD_FILE: join(at, 'password'),
    SERVICE_S3_BUCKET: 'forge',
    SERVICE_S3_KEY_ID: 'forge',
    SERVICE_S3_SECRET_FILE: join(at, 's3-secret'),
    SERVICE_BACKUP_DIR: join(at, 'backups'),
  }))
  for (const name of ['data', 'sets/own/secret', 'key.pem', 'password', 's3-secret', 'backups'])
    t.true(ground?.hidden.includes(join(folder, name)), name)
})

test('a socket open to runs is named in the log and in readyz, to permitted readers', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'forge-socket-'))
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
  const engine = createServer().listen(join(folder, 'engine'))
  await new Promise(resolve => engine.once('listening', resolve))
  t.teardown(() => engine.close())
  const server = await serverProcess({
    folder,
    env: {
      SERVICE_LOCAL_ISOLATION: 'landlock',
      SERVICE_METRICS_TOKEN: 'scraper',
      DOCKER_HOST: `unix://${join(folder, 'engine')}`,
    },
  })
  t.teardown(() => server.stop())
  const { landlock } = await whatHolds()
  if (landlock !== null) {
    await t.throwsAsync(server.start(), { message: /landlock/i })
    return
  }
  await server.start()
  const readyz = (headers: Record<string, string>) => fetch(`${server.url}/api/readyz`, { headers })
  const response = await readyz({ authorization: 'Bearer scraper' })
  t.is(response.status, 200)
  const { status, checks } = (await response.json()) as Readiness
  t.is(status, 'degraded')
  t.like(checks.isolation, { ok: true, mode: 'landlock', degraded: true })
  const told = /Runs can connect to \/.*\/engine, and act through it/
  t.regex(String(checks.isolation?.notice), told)
  t.regex(server.output(), told)
  t.notRegex(await (await readyz({})).text(), /engine/)
})
