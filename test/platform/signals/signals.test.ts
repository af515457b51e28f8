import test, { type ExecutionContext } from 'ava'
import { pino } from 'pino'
import { openRedis } from '../../../platform/redis.ts'
import { inProcessSignals, type Projected, type Signals } from '../../../platform/signals.ts'
import { openRedisSignals } from '../../../platform/signals-redis.ts'
import { addressOf } from '../../servers/rendezvous.ts'
import { until } from '../../servers/until.ts'

const projected: Projected = { projection: 'metrics', keys: ['run_1', 'run_2'] }

function heardBy(signals: Signals): Projected[] {
  const heard: Projected[] = []
  signals.subscribe(message => heard.push(message))
  return heard
}

async function redis(t: ExecutionContext): Promise<Signals> {
  const address = await addressOf('redis')
  const url = address.startsWith('redis:') ? address : `redis://${address}`
  const logger = pino({ level: 'silent' })
  const client = openRedis(url, logger)
  t.teardown(() => client.destroy())
  await until('Redis is there', 10_000, () => client.isReady)
  const signals = await openRedisSignals({ redis: client, prefix: t.title, logger })
  t.teardown(() => signals.close())
  return signals
}

test('in one process every listener hears a wake-up, and none after it has left', async t => {
  const signals = inProcessSignals()
  const heard = heardBy(signals)
  const leave = signals.subscribe(() => t.fail('has left'))
  leave()
  signals.publish(projected)
  t.deepEqual(heard, [projected])
})

test('over Redis other processes hear it once, and so does the one that says it', async t => {
  const [one, other] = [await redis(t), await redis(t)]
  const [own, others] = [heardBy(one), heardBy(other)]
  one.publish(projected)
  await until('the other process hears it', 10_000, () => others.length > 0)
  one.publish({ ...projected, keys: ['last'] })
  await until('the other process hears the last', 10_000, () => others.length > 1)
  t.deepEqual(others, [projected, { ...projected, keys: ['last'] }])
  t.deepEqual(own, [projected, { ...projected, keys: ['last'] }])
})

test('publishing over a connection that is gone fails nobody', async t => {
  const signals = await redis(t)
  const heard = heardBy(signals)
  await signals.close()
  t.notThrows(() => signals.publish(projected))
  t.deepEqual(heard, [])
})

test('over Redis every process hears whose access changed, and nothing else of it', async t => {
  const [one, other] = [await redis(t), await redis(t)]
  const heard: string[] = []
  one.subscribeAccess(username => heard.push(`own ${username}`))
  other.subscribeAccess(username => heard.push(`other ${username}`))
  const projections = heardBy(other)
  one.publishAccess('alice')
  await until('both hear it', 10_000, () => heard.length === 2)
  t.deepEqual(heard, ['own alice', 'other alice'])
  t.deepEqual(projections, [])
})
