import test from 'ava'
import { adminPassword } from '../servers/api.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { addressOf } from '../servers/rendezvous.ts'
import { createRun } from '../servers/runs.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until, untilSettled } from '../servers/until.ts'

const path = '/api/admin/maintenance'
const message = 'New disks until noon'
const begin = (forge: Forge) => forge.call('PUT', path, { body: { enabled: true, message } })
const end = (forge: Forge) => forge.call('PUT', path, { body: { enabled: false } })

/** Routes served at all times, and those needed to end maintenance (specification, "Errors", 503). */
const served = [
  '/api/version',
  '/healthz',
  '/api/readyz',
  '/api/auth/login',
  '/api/auth/confirm',
  path,
]

type Document = { paths: Record<string, Record<string, unknown>> }

test('all other routes return 503 with the message for every caller, and serve again afterwards', async t => {
  const forge = await startForge(t)
  const { body: document } = await forge.call<Document>('GET', '/api/openapi.json')
  const routes = Object.entries(document.paths).flatMap(([route, methods]) =>
    Object.keys(methods).map(method => [method.toUpperCase(), route] as const),
  )
  t.true(routes.length > 50)
  t.is((await begin(forge)).status, 200)
  let refused = 0
  for (const [method, route] of routes.filter(([, route]) => !served.includes(route)))
    for (const token of [forge.token, null]) {
      const answer = await forge.call(method, route.replace(/\{\w+\}/g, 'x'), {
        token,
        ...(method !== 'GET' && { body: {} }),
      })
      t.is(answer.status, 503, `${method} ${route}`)
      t.like(answer.body, { detail: message, code: 'maintenance' }, `${method} ${route}`)
      t.is(answer.headers.get('retry-after'), '30')
      refused++
    }
  t.true(refused > 100)
  for (const route of ['/api/version', '/healthz', '/api/readyz'])
    t.is((await forge.call('GET', route, { token: null })).status, 200, route)
  const login = { username: 'admin', password: adminPassword }
  const again = await forge.call('POST', '/api/auth/login', { token: null, body: login })
  t.is(again.status, 200)
  t.is((await end(forge)).status, 200)
  t.is((await forge.call('GET', '/api/jobs')).status, 200)
})

for (const store of ['postgres', 'redis'])
  test(`another process soon refuses everybody, notified by ${store}, and so does one that starts later`, async t => {
    const forge = await startForge(t, {
      ...(store === 'redis' && {
        SERVICE_REDIS_URL: await addressOf('redis'),
        SERVICE_TOPIC_PREFIX: `maintenance-${process.pid}`,
      }),
    })
    const other = await forge.another({ SERVICE_ROLES: 'query-api' })
    t.is((await other.call('GET', '/api/jobs')).status, 200)
    t.is((await begin(forge)).status, 200)
    await until('the other process knows', 10_000, async () => {
      const { status } = await other.call('GET', '/api/jobs')
      return status === 503
    })
    const late = await forge.another({ SERVICE_ROLES: 'query-api' })
    t.is((await late.call('GET', '/api/jobs')).status, 503)
    t.is((await late.call('GET', path)).status, 200)
    await end(forge)
    await until('the others serve again', 10_000, async () => {
      const answers = [await other.call('GET', '/api/jobs'), await late.call('GET', '/api/jobs')]
      return answers.every(({ status }) => status === 200)
    })
  })

test('reports are refused, and open streams end with a reconnect delay', async t => {
  const forge = await startForge(t)
  const run = await createRun(forge)
  const report = () =>
    forge.call('POST', '/api/ingest/metrics', {
      token: run.token,
      body: { run_id: run.run_id, points: [{ key: 'loss', step: 1, value: 1 }] },
    })
  t.is((await report()).status, 200)
  await until('the run can be read', 20_000, async () => {
    const { status } = await forge.call('GET', `/api/runs/${run.run_id}`)
    return status === 200
  })
  const response = await fetch(`${forge.url}/api/runs/${run.run_id}/metrics/stream`, {
    headers: { authorization: `Bearer ${forge.token}` },
  })
  t.is(response.status, 200)
  t.is((await begin(forge)).status, 200)
  t.regex(await untilSettled('the stream ends', 60_000, response.text()), /retry: \d+\n\n$/)
  const refused = await report()
  t.is(refused.status, 503)
  t.is(refused.headers.get('retry-after'), '30')
  await end(forge)
  t.is((await report()).status, 200)
})

test('the switch shows who used it and when, survives a restart, and is for admins only', async t => {
  const forge = await startForge(t)
  const alice = await signedIn(forge, 'alice')
  t.deepEqual((await forge.call('GET', path)).body, {
    enabled: false,
    message: null,
    changed_at: null,
    changed_by: null,
  })
  const on = await begin(forge)
  t.like(on.body, { enabled: true, message, changed_by: 'admin' })
  t.regex(String(on.body.changed_at), /\+00:00$/)
  await forge.stop()
  await forge.start()
  t.deepEqual((await forge.call('GET', path)).body, on.body)
  t.is((await forge.call('GET', '/api/jobs')).status, 503)
  for (const method of ['GET', 'PUT']) {
    const body = method === 'PUT' ? { enabled: false } : undefined
    t.is((await forge.call(method, path, { token: alice, body })).status, 403)
    t.is((await forge.call(method, path, { token: null, body })).status, 401)
  }
  t.is((await forge.call('PUT', path, { body: {} })).status, 422)
  t.like((await end(forge)).body, { enabled: false, message })
  await end(forge)
  const { rows } = await forge.pool.query(
    `select type, data, meta->'actor'->>'id' as by from write.event
      where stream = 'maintenance-switch' order by stream_version`,
  )
  t.deepEqual(rows, [
    { type: 'admin.maintenance_on', data: { message }, by: 'admin' },
    { type: 'admin.maintenance_off', data: {}, by: 'admin' },
  ])
})
