import test from 'ava'
import { ownBroker } from '../../platform/log/own-broker.ts'
import { startForge } from '../../servers/forge.ts'
import { patient } from '../../servers/patience.ts'
import { createRun } from '../../servers/runs.ts'
import { until, untilSettled } from '../../servers/until.ts'

type Ready = {
  checks: { relay: { ok: boolean; lag_ms: number; position: number; halted: string } }
}

const path = '/api/rubrics/admin/helpful'
const rubric = (description: string) => ({
  name: 'helpful',
  description,
  criteria: [{ name: 'a' }],
})

test('while Kafka is down commands and reads work, reports get 503, and readyz says why', async t => {
  t.timeout(patient(300_000))
  const broker = await ownBroker(t)
  const forge = await startForge(t, { SERVICE_KAFKA_BROKERS: broker.address })
  const run = await createRun(forge)
  const report = (step: number) =>
    forge.call('POST', '/api/ingest/metrics', {
      token: run.token,
      body: {
        run_id: run.run_id,
        points: [{ key: 'loss', step, value: 1, ts: '2026-11-20T19:26:53+00:00' }],
      },
    })
  const isShown = async (description: string) =>
    (await forge.call(`GET`, path)).body.description === description
  t.is((await report(1)).status, 200)
  t.is((await forge.call('PUT', path, { body: rubric('before') })).status, 200)
  await until('it can be read', 20_000, () => isShown('before'))

  await broker.kill()
  // An append is abandoned after nine seconds, although the broker stays down.
  const reports = Promise.all([report(2), report(3), report(4)])
  const refused = await untilSettled('the reports are answered', 40_000, reports)
  for (const { status, headers } of refused) {
    t.is(status, 503)
    t.true(Number(headers.get('retry-after')) > 0)
  }
  t.is((await forge.call('PUT', path, { body: rubric('meanwhile') })).status, 200)
  t.true(await isShown('before'))
  t.is((await forge.call('GET', `/api/runs/${run.run_id}`)).status, 200)
  const ready = await until('readyz names the unpublished event', 30_000, async () => {
    const { status, body } = await forge.call<Ready>('GET', '/api/readyz')
    return status === 503 && body.checks.relay.halted ? body.checks.relay : null
  })
  t.regex(ready.halted, /^The event at position \d+, rubric\.updated version 2 of .*helpful, \d+ b/)
  t.true(ready.lag_ms > 0 && ready.position > 0)

  await broker.restart()
  await until('reports are accepted again', 60_000, async () => (await report(5)).status === 200)
  await until('the command is visible', 30_000, () => isShown('meanwhile'))
  await until('everything is ready', 30_000, async () => {
    const { status, body } = await forge.call<Ready>('GET', '/api/readyz', { token: null })
    return status === 200 && body.checks.relay.lag_ms === 0
  })
  const metrics = await fetch(`${forge.url}/api/metrics`, {
    headers: { authorization: `Bearer ${forge.token}` },
  })
  const text = await metrics.text()
  for (const line of [
    'forge_relay_halted 0',
    'forge_relay_lag_seconds 0',
    'forge_projection_halted{projection="decisions"} 0',
    'forge_projection_lag_seconds{projection="metrics"} ',
  ])
    t.true(text.includes(line), line)
})
