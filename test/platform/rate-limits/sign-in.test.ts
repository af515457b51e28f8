import test, { type ExecutionContext } from 'ava'
import { createClient } from 'redis'
import { adminPassword } from '../../servers/api.ts'
import { type Forge, type OtherServer, startForge } from '../../servers/forge.ts'
import type { Hosted } from '../../servers/hosted.ts'
import { ownRedis } from '../../servers/redis-server.ts'

const signIn = (server: Pick<Forge, 'call'>, password = adminPassword) =>
  server.call('POST', '/api/auth/login', {
    token: null,
    body: { username: 'admin', password },
  })

/** Two processes of one installation, and a minute in which nobody has signed in yet. */
async function twoProcesses(t: ExecutionContext, redis: Hosted | null) {
  const forge = await startForge(t, redis ? { SERVICE_REDIS_URL: redis.address } : {})
  const other = await forge.another({ SERVICE_ROLES: 'command-api' })
  // The first is ready once a person has signed in, whose minute may be over while the other starts.
  await forge.pool.query('delete from auth.rate_limit')
  if (redis) await emptied(redis)
  return [forge, other] as const
}

async function emptied({ address }: Hosted): Promise<void> {
  const client = createClient({ url: address })
  await client.connect()
  try {
    await client.flushAll()
  } finally {
    client.destroy()
  }
}

/** Right and wrong passwords in turn, on one process and the other. */
async function tryTimes(times: number, processes: readonly (Forge | OtherServer)[]) {
  const statuses: number[] = []
  for (let call = 0; call < times; call++) {
    const server = processes[call % processes.length]
    if (!server) throw new Error('no process')
    const password = call % 3 === 0 ? adminPassword : 'not the password'
    statuses.push((await signIn(server, password)).status)
  }
  return statuses
}

const ten = [200, 401, 401, 200, 401, 401, 200, 401, 401, 200]

for (const store of ['postgres', 'redis'])
  test(`the eleventh sign-in of a minute is 429 on every process, whether the password is right or not, counted in ${store}`, async t => {
    const [one, other] = await twoProcesses(t, store === 'redis' ? await ownRedis(t) : null)
    t.deepEqual(await tryTimes(10, [one, other]), ten)
    for (const server of [one, other]) {
      const { status, headers, body } = await signIn(server)
      t.is(status, 429)
      const wait = Number(headers.get('retry-after'))
      t.true(Number.isInteger(wait) && wait >= 1 && wait <= 60, String(wait))
      t.like(body, { code: 'rate_limited', data: { limit: 10, window_s: 60 } })
    }
    t.is((await one.call('GET', '/api/version', { token: null })).status, 200)
  })

test('an outage of Redis between two sign-ins gives nobody ten more, and only 503 is an error', async t => {
  const redis = await ownRedis(t)
  const [one, other] = await twoProcesses(t, redis)
  t.deepEqual(await tryTimes(6, [one, other]), ten.slice(0, 6))
  await redis.stop()
  const after = await tryTimes(12, [one, other])
  t.true(
    after.every(status => [200, 401, 429, 503].includes(status)),
    String(after),
  )
  t.true(after.filter(status => status === 200 || status === 401).length <= 4, String(after))
  t.deepEqual(after.slice(-4), [429, 429, 429, 429])
})

test('a malformed sign-in does not count, and a refused one does not affect other addresses', async t => {
  const forge = await startForge(t, { SERVICE_TRUSTED_PROXY_HOPS: '1' })
  const from = (address: string, body: object) =>
    forge.call('POST', '/api/auth/login', {
      token: null,
      body,
      headers: { 'x-forwarded-for': address },
    })
  const right = { username: 'admin', password: adminPassword }
  for (let call = 0; call < 12; call++)
    t.is((await from('2001:db8::1', { username: 'admin' })).status, 422)
  for (let call = 0; call < 10; call++)
    t.is((await from(`2001:db8::${call + 1}`, right)).status, 200)
  t.is((await from('2001:db8::ffff', right)).status, 429)
  t.is((await from('2001:db8:0:100::1', right)).status, 200)
})
