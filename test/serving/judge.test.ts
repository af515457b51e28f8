import test from 'ava'
import type { LineageGraph } from '../../schemas/lineage.ts'
import type { RubricTested } from '../../schemas/rubrics/judgings.ts'
import { startSmallHub } from '../hub-imports/small-hub.ts'
import { startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { until } from '../servers/until.ts'
import { tinyGguf } from './tiny-gguf.ts'

test('llama.cpp serves a model of the hub, and judges samples by a rubric, held to its JSON schema', async t => {
  t.timeout(patient(500_000), 'environments are built')
  const hub = await startSmallHub()
  t.teardown(hub.close)
  const forge = await startForge(t, { SERVICE_HUB_ENDPOINT: hub.url })
  const artifact_id = await tinyGguf(forge)
  const { body: at } = await forge.call<{ url: string }>(
    'GET',
    `/api/artifacts/${artifact_id}/download-url`,
  )
  const model = Buffer.from(await (await fetch(at.url)).arrayBuffer())
  const commit = hub.commit('acme/tiny', { 'tiny.gguf': model, 'config.json': '{}' })
  hub.commit('acme/gated', { 'tiny.gguf': model }, { token: 'hf_somebody' })
  const bodyOf = (hub_ref: string) => ({
    ...{ name: 'judge', project: 'demo', source: { kind: 'hub', hub_ref } },
    serving: { template: 'llama-cpp', params: { threads: 1, parallel: 1 } },
  })
  const gated = await forge.call('POST', '/api/deployments', { body: bodyOf('hub:acme/gated') })
  t.is(gated.status, 400)
  t.regex(String(gated.body.detail), /is restricted/)
  const { body: made } = await forge.call<{ deployment_id: string }>('POST', '/api/deployments', {
    body: bodyOf('hub:acme/tiny'),
  })
  const { deployment_id } = made
  const path = `/api/deployments/${deployment_id}`
  await until('the engine responds', 200_000, async () => {
    const { body } = await forge.call<{ state: string }>('GET', path)
    if (body.state === 'failed') throw new Error(JSON.stringify(body))
    return body.state === 'ready'
  })
  const lineage = await forge.call<LineageGraph>('GET', `/api/lineage/deployments/${deployment_id}`)
  const [from, to] = [`hub:acme/tiny@${commit}`, `deployment:${deployment_id}`]
  t.deepEqual(
    lineage.body.edges.filter(({ kind }) => kind === 'served'),
    [{ kind: 'served', from, to }],
  )
  // Its weights are random, so any number is on this scale.
  await forge.call('PUT', '/api/rubrics/admin/any', {
    body: { name: 'any', criteria: [{ name: 'clear' }], scale_min: -1e300, scale_max: 1e300 },
  })
  const run = await createRun(forge)
  await ingest(forge, run, 'validation', {
    step: 1,
    samples: [{ user: 'What is 6 x 7?', assistant: '42' }],
  })
  await until('the round can be read', 20_000, async () => {
    const { status } = await forge.call('GET', `/api/runs/${run.run_id}/validation/1`)
    return status === 200
  })
  const { body } = await forge.call<RubricTested>('POST', '/api/rubrics/admin/any/test', {
    body: { run_id: run.run_id, judge: deployment_id, limit: 1 },
  })
  t.log(body)
  const [result] = body.results
  t.is(result?.error, null)
  t.is(typeof result?.criteria.clear, 'number')
  t.is(typeof result?.reason, 'string')
})
