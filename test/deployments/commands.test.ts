import test from 'ava'
import { startEngine } from '../servers/engine.ts'
import { sharedForge } from '../servers/forge.ts'
import { until } from '../servers/until.ts'

const shared = sharedForge()

type Deployment = {
  state: string
  promoted_revision_id: string | null
  replicas: { ready: number }
}

test('an engine that runs elsewhere is deployed: asked, found ready, promoted', async t => {
  t.timeout(60_000)
  const forge = await shared()
  const engine = await startEngine(t)
  const made = await forge.call<{ deployment_id: string }>('POST', '/api/deployments', {
    body: { name: 'elsewhere', project: 'serving', source: { kind: 'external', url: engine.url } },
  })
  t.is(made.status, 200)
  const path = `/api/deployments/${made.body.deployment_id}`
  const ready = await until('the deployment is ready', 20_000, async () => {
    const { body } = await forge.call<Deployment>('GET', path)
    return body.state === 'ready' && body
  })
  t.truthy(ready.promoted_revision_id)
  t.is(ready.replicas.ready, 1)
})
