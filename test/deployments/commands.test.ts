import test from 'ava'
import { serveEngine, startEngine } from '../servers/engine.ts'
import { sharedForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'

const shared = sharedForge()

type Deployment = {
  state: string
  promoted_revision_id: string | null
  replicas: { ready: number }
}

test('an engine that runs elsewhere is deployed: polled, found ready, promoted', async t => {
  t.timeout(patient(60_000))
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
  t.like(ready, { capture: { enabled: false } })
  const capture = { enabled: true, sample_rate: 1 }
  t.is((await forge.call('PATCH', path, { body: { capture } })).status, 501)
})

test('an engine that echoes the secret does not reveal it to people', async t => {
  t.timeout(patient(60_000))
  const forge = await shared()
  const url = await serveEngine(t, (req, res) => {
    res.statusCode = 401
    req.resume().on('end', () => res.end(JSON.stringify({ headers: req.headers })))
  })
  const header = { name: 'authorization', value: 'Bearer sk-canary-123' }
  const made = await forge.call<{ deployment_id: string }>('POST', '/api/deployments', {
    body: { name: 'echoes', project: 'serving', source: { kind: 'external', url, header } },
  })
  t.is(made.status, 200)
  type Revision = { engines: { last_error: string | null }[] }
  const error = await until('the failure is shown', 20_000, async () => {
    const path = `/api/deployments/${made.body.deployment_id}/revisions`
    const { body } = await forge.call<Revision[]>('GET', path)
    return body[0]?.engines[0]?.last_error
  })
  t.regex(error, /returned 401/)
  t.notRegex(error, /canary/)
})
