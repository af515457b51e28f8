import test from 'ava'
import { serveEngine, startEngine } from '../servers/engine.ts'
import { sharedForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { signedIn } from '../servers/signed-in.ts'
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
  t.is((await forge.call('PATCH', path, { body: { capture } })).status, 400)
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

test('people cannot make the server call hosts that are not listed, in whatever spelling', async t => {
  const forge = await shared()
  const engine = await startEngine(t)
  const token = await signedIn(forge, 'caller')
  const { port } = new URL(engine.url)
  for (const url of [
    engine.url,
    `http://localhost:${port}`,
    `http://2130706433:${port}`,
    `http://[::ffff:127.0.0.1]:${port}`,
    'http://169.254.169.254/latest/meta-data',
  ]) {
    const source = { kind: 'external', url }
    const { status, body } = await forge.call('POST', '/api/deployments', {
      body: { name: 'inside', project: 'probing', source },
      token,
    })
    t.is(status, 403, url)
    t.is(body.code, 'deployment.host_not_listed')
  }
  for (const url of ['file:///etc/passwd', 'gopher://127.0.0.1:6379/_x', 'http://user@127.0.0.1/'])
    t.true(
      [400, 422].includes(
        (
          await forge.call('POST', '/api/deployments', {
            body: { name: 'inside', project: 'probing', source: { kind: 'external', url } },
          })
        ).status,
      ),
      url,
    )
  t.deepEqual(engine.asked, [])
})

test('the poll of an engine follows no redirect, and takes no secret along', async t => {
  t.timeout(patient(60_000))
  const forge = await shared()
  const inside = await startEngine(t)
  const url = await serveEngine(t, (req, res) => {
    req.resume().on('end', () => res.writeHead(307, { location: `${inside.url}/v1/models` }).end())
  })
  const header = { name: 'authorization', value: 'Bearer sk-canary-456' }
  const { body: made } = await forge.call<{ deployment_id: string }>('POST', '/api/deployments', {
    body: { name: 'redirects', project: 'serving', source: { kind: 'external', url, header } },
  })
  type Revision = { engines: { last_error: string | null }[] }
  const error = await until('the failure is shown', 20_000, async () => {
    const path = `/api/deployments/${made.deployment_id}/revisions`
    return (await forge.call<Revision[]>('GET', path)).body[0]?.engines[0]?.last_error
  })
  t.regex(error, /returned 307/)
  t.deepEqual(inside.asked, [])
})
