import test from 'ava'
import { startEngine } from '../servers/engine.ts'
import { sharedForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'

const shared = sharedForge()

test('a deployment is opened by its own token, and by nothing else', async t => {
  t.timeout(patient(60_000))
  const forge = await shared()
  const engine = await startEngine(t)
  const { body } = await forge.call<{ deployment_id: string }>('POST', '/api/deployments', {
    body: { name: 'opened', project: 'serving', source: { kind: 'external', url: engine.url } },
  })
  const path = `/api/deployments/${body.deployment_id}`
  await until(
    'it is ready',
    20_000,
    async () => (await forge.call('GET', path)).body.state === 'ready',
  )
  const made = await forge.call<{ token: string; token_id: string }>('POST', `${path}/tokens`, {
    body: { name: 'a' },
  })
  const ask = (token: string) =>
    fetch(`${forge.url}/inference/${body.deployment_id}/v1/models`, {
      headers: { authorization: `Bearer ${token}` },
    })
  const right = await ask(made.body.token)
  t.is(right.status, 200)
  t.deepEqual(await right.json(), { data: [{ id: 'default' }], choices: [{ index: 0 }] })
  t.is((await ask(forge.token)).status, 401)
  await forge.call('DELETE', `${path}/tokens/${made.body.token_id}`)
  t.is((await ask(made.body.token)).status, 401)

  const metrics = await fetch(`${forge.url}/api/metrics`, {
    headers: { authorization: `Bearer ${forge.token}` },
  })
  const text = await metrics.text()
  for (const line of [
    'forge_inference_requests_total{status="200",error_source="none"} 1',
    'forge_inference_requests_total{status="401",error_source="gateway"} 2',
    'forge_inference_in_flight 0',
    'forge_inference_admission_seconds_count 3',
    'forge_inference_duration_seconds_count 1',
    'forge_inference_engine_failures_total 0',
  ])
    t.true(text.includes(line), line)
})
