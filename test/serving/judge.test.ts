import test from 'ava'
import type { RubricTested } from '../../schemas/rubrics/judgings.ts'
import { startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { until } from '../servers/until.ts'
import { deployedGguf } from './tiny-gguf.ts'

test('llama.cpp judges samples by a rubric, held to its JSON schema', async t => {
  t.timeout(patient(500_000), 'environments are built')
  const forge = await startForge(t)
  const deployment_id = await deployedGguf(forge, 'judge')
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
