import test from 'ava'
import { startForge } from '../../servers/forge.ts'
import { hostileRequests } from './hostile.ts'

type Created = { run_id: string; token: string }

test('every hostile request is refused with its declared status, and leaves nothing behind', async t => {
  const forge = await startForge(t)
  const create = async () =>
    (await forge.call<Created>('POST', '/api/runs', { body: { project: 'demo' } })).body
  const { run_id: run, token } = await create()
  const { run_id: otherRun } = await create()
  for (const { why, method, path, refused, headers, body } of hostileRequests({
    person: forge.token,
    run,
    token,
    otherRun,
  })) {
    const response = await fetch(`${forge.url}${path}`, { method, headers, body })
    const text = await response.text()
    t.true(refused.includes(response.status), `${why}: ${response.status} ${text.slice(0, 200)}`)
  }
  for (const id of [run, otherRun])
    t.deepEqual((await forge.call('GET', `/api/runs/${id}/metrics/keys`)).body, [])
  t.is((await forge.call('GET', '/api/rubrics/admin/hostile')).status, 404)
  const { body } = await forge.call<unknown[]>('GET', '/api/runs?project=demo')
  t.is(body.length, 2)
})
