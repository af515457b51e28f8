import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { pino } from 'pino'
import { openRedis, type RedisClient } from '../../../platform/redis.ts'
import { adminPassword } from '../../servers/api.ts'
import { type Forge, startForgeProcess } from '../../servers/forge.ts'
import { patient } from '../../servers/patience.ts'
import { addressOf } from '../../servers/rendezvous.ts'
import { until } from '../../servers/until.ts'
import { formsIn, type Secret, unlikely } from './needle.ts'
import { databasePlaces, filePlaces, type Place, redisPlaces } from './places.ts'
import { sendDevice, sendPasswords, sendRuns, sendTokens } from './secret-inputs.ts'
import { bearer, type SecretSender, secretSender } from './send-secrets.ts'

test('no received or issued secret is found anywhere else', async t => {
  t.timeout(patient(400_000))
  const prefix = unlikely('secrets')
  const metricsToken = unlikely('metrics-token')
  const redis = await redisWithPassword(t)
  const forge = await startForgeProcess(t, {
    SERVICE_LOG_LEVEL: 'trace',
    SERVICE_TOPIC_PREFIX: prefix,
    SERVICE_METRICS_TOKEN: metricsToken,
    SERVICE_REDIS_URL: redis.url,
  })
  const sender = secretSender(forge)
  sender.take('first password', adminPassword)
  sender.take('metrics token', metricsToken)
  sender.take('redis password', redis.password)
  sender.take('database password', new URL(String(forge.pool.options.connectionString)).password)
  sender.take('first access token', forge.token)
  const outputs = await sendAll(sender, forge)

  const places = [
    ...sender.answers,
    ...outputs,
    { name: 'output', text: forge.output() },
    ...(await databasePlaces(forge.pool)),
    ...(await redisPlaces(redis.client, prefix)),
    ...(await filePlaces(forge.dataDir)),
  ]
  for (const [name, text] of Object.entries({ output: 'starting', 'redis ': prefix }))
    t.true(
      places.some(place => place.name.startsWith(name) && place.text.includes(text)),
      name,
    )
  await takeSigningKeys(sender, forge)
  const found = sender.secrets.flatMap(secret => foundIn(places, secret))
  t.deepEqual(found, [])
  t.true(sender.secrets.length >= 30)
  t.log(`${sender.secrets.length} secrets, ${places.length} places`)
})

const foundIn = (places: readonly Place[], secret: Secret): string[] =>
  places
    .filter(({ name }) => !secret.allowed.includes(name))
    .flatMap(({ name, text }) =>
      formsIn(text, secret).map(form => `${secret.name} in ${name}, ${form}`),
    )

/** Sends every secret; returns the output of streams and of other processes. */
async function sendAll(sender: SecretSender, forge: Forge): Promise<Place[]> {
  const { send, make } = sender
  const { body: lock } = await forge.call('GET', '/api/recipes/digits/1.0.0/lock')
  const runId = await sendRuns(sender, forge.token, lock)
  const signed = await sendPasswords(sender, forge.token)
  await sendTokens(sender, signed)
  await sendDevice(sender, forge.token)
  const asAdmin = bearer(forge.token)
  for (const path of [`/api/jobs/${runId}`, '/api/jobs', '/api/audit', '/api/runs', '/api/metrics'])
    await send(path, 200, { method: 'GET', path, headers: asAdmin })
  const stream = await streamOf(forge, runId)
  const clientSecret = make('client secret of a provider')
  const other = await forge.another({
    SERVICE_OIDC_ISSUER: 'http://127.0.0.1:9',
    SERVICE_OIDC_CLIENT_ID: 'forge',
    SERVICE_OIDC_CLIENT_SECRET: clientSecret,
  })
  await other.call('GET', '/api/auth/oidc/login', { token: null })
  return [
    { name: 'stream', text: stream },
    { name: 'output of another process', text: other.output() },
  ]
}

/** The job's stream up to its state. */
async function streamOf(forge: Forge, runId: string): Promise<string> {
  const stop = new AbortController()
  const response = await fetch(`${forge.url}/api/stream?topics=job:${runId}`, {
    headers: { ...bearer(forge.token), 'last-event-id': '0' },
    signal: stop.signal,
  })
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (text.includes('event: state')) break
  }
  stop.abort()
  return text
}

/** Collects the lines of the private keys, which may be only in their own files. */
async function takeSigningKeys(sender: SecretSender, { dataDir }: Forge): Promise<void> {
  for (const file of await readdir(join(dataDir, 'keys'))) {
    const [, ...lines] = (await readFile(join(dataDir, 'keys', file), 'utf8')).split('\n')
    sender.take('signing key', lines[0], `file keys/${file}`)
  }
}

/** A user of the tests' Redis with a password. */
async function redisWithPassword(
  t: ExecutionContext,
): Promise<{ url: string; password: string; client: RedisClient }> {
  const address = new URL(await addressOf('redis'))
  const client = await openRedis(address.href, pino({ level: 'silent' }))
  t.teardown(() => client.destroy())
  await until('Redis is there', 10_000, () => client.isReady)
  const username = `user-${randomBytes(6).toString('hex')}`
  const password = unlikely('redis-password')
  await client.sendCommand(['ACL', 'SETUSER', username, 'on', `>${password}`, '~*', '&*', '+@all'])
  address.username = username
  address.password = password
  return { url: address.href, password, client }
}
