import test, { type ExecutionContext } from 'ava'
import { pino } from 'pino'
import { openRedis } from '../../../platform/redis.ts'
import { inProcessSignals, type Signals } from '../../../platform/signals.ts'
import type { Projected, WakeUps } from '../../../schemas/wake-ups.ts'
import { openSignals } from '../../../server/signals.ts'
import { addressOf } from '../../servers/rendezvous.ts'
import { until } from '../../servers/until.ts'

const projected: Projected = { projection: 'metrics', keys: ['run_1', 'run_2'], after: 3, upTo: 5 }

function heardBy(signals: Signals<WakeUps>): Projected[] {
  const heard: Projected[] = []
  signals.subscribe('projected', message => heard.push(message))
  return heard
}

async function redis(t: ExecutionContext): Promise<Signals<WakeUps>> {
  const address = await addressOf('redis')
  const url = address.startsWith('redis:') ? address : `redis://${address}`
  const logger = pino({ level: 'silent' })
  const client = await openRedis(url, logger)
  t.teardown(() => client.destroy())
  await until('Redis is there', 10_000, () => client.isReady)
  const channels = ['projected', 'access'].map(channel => `${t.title}.${channel}`)
  const listeners = async () => Object.values(await client.pubSubNumSub(channels))
  const before = await listeners()
  const signals = await openSignals({ redis: client, prefix: t.title, logger })
  t.teardown(() => signals.close())
  // An opening waits at most half a second for Redis to listen.
  await until('Redis counts it on each channel', 10_000, async () =>
    (await listeners()).every((count, at) => count === Number(before[at]) + 1),
  )
  return signals
}

test('in one process every listener gets a wake-up until it unsubscribes', async t => {
  const signals = inProcessSignals<WakeUps>()
  const heard = heardBy(signals)
  const leave = signals.subscribe('projected', () => t.fail('has left'))
  leave()
  signals.publish('projected', projected)
  t.deepEqual(heard, [projected])
})

test('over Redis every process gets a wake-up once, including the sender', async t => {
  const [one, other] = [await redis(t), await redis(t)]
  const [own, others] = [heardBy(one), heardBy(other)]
  one.publish('projected', projected)
  await until('the other process hears it', 10_000, () => others.length > 0)
  one.publish('projected', { ...projected, keys: ['last'] })
  await until('the other process hears the last', 10_000, () => others.length > 1)
  t.deepEqual(others, [projected, { ...projected, keys: ['last'] }])
  t.deepEqual(own, [projected, { ...projected, keys: ['last'] }])
})

test('publishing over a lost connection does not throw', async t => {
  const signals = await redis(t)
  const heard = heardBy(signals)
  await signals.close()
  t.notThrows(() => signals.publish('projected', projected))
  t.deepEqual(heard, [])
})

test('over Redis every process learns whose access changed, and nothing else', async t => {
  const [one, other] = [await redis(t), await redis(t)]
  const heard: string[] = []
  one.subscribe('access', ({ username }) => heard.push(`own ${username}`))
  other.subscribe('access', ({ username }) => heard.push(`other ${username}`))
  const projections = heardBy(other)
  one.publish('access', { username: 'alice' })
  await until('both hear it', 10_000, () => heard.length === 2)
  t.deepEqual(heard, ['own alice', 'other alice'])
  t.deepEqual(projections, [])
})

test('over Redis no message grows with the keys of a commit', async t => {
  const [one, other] = [await redis(t), await redis(t)]
  const others = heardBy(other)
  one.publish('projected', { ...projected, keys: Array.from({ length: 9000 }, String) })
  await until('the other process hears it', 10_000, () => others.length > 0)
  t.is(others[0]?.keys.length, 500)
  t.like(others[0], { after: 3, upTo: 3 }, 'it does not claim that the other keys were announced')
})
