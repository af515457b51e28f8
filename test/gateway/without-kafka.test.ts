import test from 'ava'
import { ownBroker } from '../platform/log/own-broker.ts'
import { startEngine } from '../servers/engine.ts'
import { startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'
import { deployed } from './deployed.ts'

test('a gateway starts and serves while Kafka is away, and its record of traffic follows', async t => {
  t.timeout(patient(300_000), 'a broker starts twice')
  const broker = await ownBroker(t)
  const forge = await startForge(t, { SERVICE_KAFKA_BROKERS: broker.address })
  const { path, inference, token } = await deployed(forge, 'away', [(await startEngine(t)).url])
  await broker.kill()

  const gateway = await forge.another({ SERVICE_ROLES: 'gateway' })
  t.is((await gateway.call('GET', '/api/readyz', { token: null })).status, 200)
  const ask = () =>
    fetch(`${gateway.url}${inference}/models`, { headers: { authorization: `Bearer ${token}` } })
  for (let times = 0; times < 5; times++) t.is((await ask()).status, 200)

  await broker.restart()
  await until('five requests are on record', 120_000, async () => {
    const { body } = await forge.call<object[]>('GET', `${path}/traffic`)
    return body.length === 5
  })
  await gateway.stop()
  t.notRegex(gateway.output(), /could not start/)
})
