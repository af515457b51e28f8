import test from 'ava'
import type { Alert } from '../../schemas/alerts.ts'
import { ownBroker } from '../platform/log/own-broker.ts'
import { startForgeProcess } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { until } from '../servers/until.ts'

test('with Kafka as the log, two processes raise an alert once, even when the following one dies', async t => {
  t.timeout(patient(300_000))
  const broker = await ownBroker(t)
  const forge = await startForgeProcess(t, { SERVICE_KAFKA_BROKERS: broker.address })
  const other = await forge.another()
  const run = await createRun(forge)
  const report = (via: Pick<typeof forge, 'call'>, step: number, value: number | 'NaN') =>
    via.call('POST', '/api/ingest/metrics', {
      token: run.token,
      body: { run_id: run.run_id, points: [{ key: 'loss', step, value }] },
    })
  const path = `/api/runs/${run.run_id}/alerts`
  await ingest(forge, run, 'metrics', { points: [{ key: 'loss', step: 1, value: 'NaN' }] })
  await report(other, 2, 'NaN')
  await until(
    'it fires',
    60_000,
    async () => (await other.call<Alert[]>('GET', path)).body.length > 0,
  )
  await forge.kill()
  t.is((await report(other, 3, 0.5)).status, 200)
  const [alert] = await until('it is resolved', 90_000, async () => {
    const { body } = await other.call<Alert[]>('GET', path)
    return body[0]?.state === 'resolved' && body
  })
  t.is(alert?.resolution, 'recovered')
  t.is((await other.call<Alert[]>('GET', path)).body.length, 1)
})
