import test, { type ExecutionContext } from 'ava'
import { connect } from '../servers/events.ts'
import { type Forge, startForge, startForgeProcess } from '../servers/forge.ts'
import { linkTo } from '../servers/link.ts'
import { ownRedis } from '../servers/redis-server.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until, untilSettled } from '../servers/until.ts'
import { startTraffic } from './traffic.ts'

type Ending = (forge: Forge, username: string, token: string) => Promise<number>

const status = (reply: { status: number }) => reply.status
const change = (forge: Forge, username: string, body: object) =>
  forge.call('PATCH', `/api/admin/users/${username}`, { body }).then(status)

/** Ways to revoke a token's rights; each returns the status of its request. */
const endings: Record<string, Ending> = {
  logout: (forge, _, token) => forge.call('POST', '/api/auth/logout', { token }).then(status),
  disable: (forge, username) => change(forge, username, { disabled: true }),
  demotion: (forge, username) => change(forge, username, { role: 'operator' }),
  'password reset': (forge, username) => change(forge, username, { password: null }),
  async 'password change'(forge, username) {
    const token = await signIn(forge, username)
    const body = { current: password, new: `${password} anew` }
    return forge.call('POST', '/api/auth/password', { token, body }).then(status)
  },
}

const password = 'a person of the tests'

async function createAdmin(forge: Forge, username: string): Promise<void> {
  const body = { username, role: 'admin', password }
  await forge.call('POST', '/api/admin/users', { body })
}

let addresses = 0

async function signIn(forge: Forge, username: string): Promise<string> {
  const reply = await forge.call<{ token: string }>('POST', '/api/auth/login', {
    body: { username, password },
    // Each address has ten attempts a minute.
    headers: { 'x-forwarded-for': `10.6.0.${++addresses}` },
    token: null,
  })
  return reply.body.token
}

/**
 * Ends the rights of five people at once, by each of the ways, while their tokens send 200 requests a second to these
 * servers, and expects that all servers refuse them.
 */
async function endAll(t: ExecutionContext, forge: Forge, urls: readonly string[], round: string) {
  const ways = Object.entries(endings)
  const perSecond = 200 / ways.length
  const ended = ways.map(async ([kind, end], nth) => {
    const username = `person-${round}-${nth}`
    await createAdmin(forge, username)
    const token = await signIn(forge, username)
    const traffic = startTraffic(urls, { path: '/api/auth/sessions?limit=1', token, perSecond })
    await traffic.flows(4)
    t.is(await end(forge, username, token), 200)
    const answeredMs = performance.now()
    const outcomes = await traffic.end(answeredMs, 2000)

    const late = outcomes.filter(({ begunMs }) => begunMs > answeredMs)
    const lastMs = Math.max(
      ...outcomes.filter(outcome => outcome.status === 200).map(({ begunMs }) => begunMs),
    )
    const refused = late.filter(outcome => outcome.status === 401)
    t.log(
      `${kind}: last success begun ${(lastMs - answeredMs).toFixed(0)} ms after the answer; ${refused.length} of ${late.length} later ones refused`,
    )
    // A process rechecks anything it read more than half a second before the request: load cannot make a later one succeed.
    t.true(lastMs - answeredMs < 1000)
    t.true(refused.length > perSecond)
    t.is(new Set(refused.map(outcome => outcome.process)).size, urls.length, 'by every process')
    t.deepEqual(
      outcomes.filter(outcome => outcome.status !== 200 && outcome.status !== 401),
      [],
    )
  })
  await Promise.all(ended)
}

async function startFour(t: ExecutionContext, env: Record<string, string>) {
  const forge = await startForgeProcess(t, { SERVICE_TRUSTED_PROXY_HOPS: '1', ...env })
  const more = { SERVICE_ROLES: 'command-api,query-api' }
  const others = await Promise.all([1, 2, 3].map(() => forge.another(more)))
  return { forge, urls: [forge, ...others].map(({ url }) => url) }
}

const title = 'a token that ended under 200 requests a second on four processes is refused by all'

test.serial(`${title}, without Redis`, async t => {
  const { forge, urls } = await startFour(t, {})
  await endAll(t, forge, urls, 'first')
})

test.serial(`${title}, with Redis, and after it went away`, async t => {
  const redis = await ownRedis(t)
  const { forge, urls } = await startFour(t, { SERVICE_REDIS_URL: redis.address })
  await endAll(t, forge, urls, 'first')
  await redis.stop()
  await endAll(t, forge, urls, 'second')
})

test.serial('an open stream ends with the session that reads it', async t => {
  const forge = await startForge(t)
  const other = await forge.another({ SERVICE_ROLES: 'query-api' })
  const token = await signedIn(forge, 'alice')
  const streams = await Promise.all(
    [forge, other].map(({ url }) => connect(`${url}/api/stream?topics=jobs`, token)),
  )
  const mine = await connect(`${other.url}/api/stream?topics=jobs`, forge.token)
  t.deepEqual(
    [...streams, mine].map(stream => stream.status),
    [200, 200, 200],
  )
  t.is((await forge.call('POST', '/api/auth/logout', { token })).status, 200)
  // Readers are checked every four seconds.
  for (const stream of streams)
    t.is(await untilSettled('the stream ends', 20_000, stream.next()), null)
  const again = await connect(`${forge.url}/api/stream?topics=jobs`, token)
  t.is(again.status, 401)
  const still = await Promise.race([mine.next(), Promise.resolve('open')])
  t.is(still, 'open', 'the stream of another session continues')
  mine.cut()
})

test.serial(
  'while Postgres is down nobody is authenticated, and nobody is reported as signed out',
  async t => {
    const forge = await startForge(t)
    const link = await linkTo(t, String(forge.pool.options.connectionString))
    const other = await forge.another({
      SERVICE_ROLES: 'command-api,query-api',
      SERVICE_DATABASE_URL: link.url,
    })
    const seen = new Set<number>()
    const answers = async (expected: number) => {
      const { status: answer } = await other.call('GET', '/api/auth/me')
      seen.add(answer)
      return answer === expected
    }
    t.true(await answers(200))
    link.cut()
    await until('nobody is let in', 20_000, () => answers(503))
    for (let again = 0; again < 20; again++) t.true(await answers(503))
    link.mend()
    await until('people are let in again', 20_000, () => answers(200))
    t.deepEqual([...seen].sort(), [200, 503])
  },
)
