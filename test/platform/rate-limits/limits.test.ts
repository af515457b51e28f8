import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { Pool } from 'pg'
import { pino } from 'pino'
import { createRateLimits, type RateLimits } from '../../../platform/rate-limits.ts'
import { openRedis } from '../../../platform/redis.ts'
import { Refusal } from '../../../platform/refusal.ts'
import { database } from '../../servers/postgres.ts'
import { startRedis } from '../../servers/redis-server.ts'
import { until } from '../../servers/until.ts'

const logger = pino({ level: 'silent' })
const perMinute = { name: 'minute', points: 10, windowSeconds: 60 }
const perTwoSeconds = { name: 'short', points: 3, windowSeconds: 2 }

type Store = {
  /** Creates the rate limits of a new process. */
  limits: () => RateLimits
  stop: () => Promise<void>
}

async function postgresOnly(t: ExecutionContext): Promise<Store> {
  const { pool } = await database(t)
  return { limits: () => on(pool), stop: () => pool.end() }
}

/** The same with a separate Redis for this test. */
async function withRedis(t: ExecutionContext): Promise<Store & { startAgain(): Promise<void> }> {
  const { pool } = await database(t)
  const folder = await mkdtemp(join(tmpdir(), 'forge-redis-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  let server = await startRedis(folder)
  t.teardown(() => server.stop())
  const redis = await openRedis(server.address, logger)
  t.teardown(() => redis.destroy())
  const connected = () => until('redis is connected', 10_000, () => redis.isReady)
  await connected()
  return {
    limits: () => createRateLimits({ pool, schema: 'auth', redis, prefix: 'test', logger }),
    stop: () => server.stop(),
    async startAgain() {
      server = await startRedis(folder, server)
      await connected()
    },
  }
}

const on = (pool: Pool) =>
  createRateLimits({ pool, schema: 'auth', redis: null, prefix: 'test', logger })

/** Counts a call; returns null if it was accepted, otherwise the seconds to wait. */
async function count(limits: RateLimits, limit: typeof perMinute, client = '10.0.0.1') {
  try {
    await limits.count(limit, client)
    return null
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'rate_limited') throw error
    return error.extras.retryAfterSeconds ?? Number.NaN
  }
}

for (const [name, open] of [
  ['postgres', postgresOnly],
  ['redis', withRedis],
] as const) {
  test(`${name}: two processes together accept ten calls, and give the eleventh its waiting time`, async t => {
    const store = await open(t)
    const [one, other] = [store.limits(), store.limits()]
    for (let call = 0; call < 10; call++)
      t.is(await count(call % 2 === 0 ? one : other, perMinute), null)
    const waits = [await count(one, perMinute), await count(other, perMinute)]
    for (const wait of waits) t.true(Number(wait) >= 1 && Number(wait) <= 60, String(wait))
    t.is(await count(one, perMinute, '10.0.0.2'), null)
  })

  test(`${name}: of fifty concurrent calls exactly ten are accepted`, async t => {
    const store = await open(t)
    const processes = [store.limits(), store.limits(), store.limits(), store.limits()]
    const waits = await Promise.all(
      Array.from({ length: 50 }, (_, call) =>
        count(processes[call % 4] ?? store.limits(), perMinute),
      ),
    )
    t.is(waits.filter(wait => wait === null).length, 10)
  })

  test(`${name}: a client that waits as long as requested is accepted again`, async t => {
    const limits = (await open(t)).limits()
    // The window may end between two calls on a slow machine: then the next one is counted instead.
    const wait = await until('a call is refused', 30_000, () => count(limits, perTwoSeconds))
    const refusedAt = performance.now()
    t.true(wait >= 1 && wait <= perTwoSeconds.windowSeconds)
    await until('the time is over', 10_000, () => performance.now() - refusedAt >= wait * 1000)
    t.is(await count(limits, perTwoSeconds), null)
  })
}

test('a used-up limit stays used up when Redis fails and when it comes back empty', async t => {
  const store = await withRedis(t)
  const limits = store.limits()
  for (let call = 0; call < 9; call++) t.is(await count(limits, perMinute), null)
  await store.stop()
  t.is(await count(limits, perMinute), null)
  t.is(typeof (await count(limits, perMinute)), 'number')
  t.is(typeof (await count(store.limits(), perMinute)), 'number')
  t.is(await count(limits, perMinute, '10.0.0.2'), null)
  await store.startAgain()
  t.is(typeof (await count(limits, perMinute)), 'number')
  t.is(await count(limits, perMinute, '10.0.0.3'), null)
})

test('without any store no call is accepted', async t => {
  const store = await postgresOnly(t)
  const limits = store.limits()
  await store.stop()
  await t.throwsAsync(limits.count(perMinute, '10.0.0.1'))
})
