import test from 'ava'
import { type Forge, startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'

type Version = { version: number; source: { artifact_id: string; run_id: string } }
type Submitted = { run_id: string; short_id: string; detail: string; code: string }
type Served = { source: { artifact_id: string }; engines: { run_id: string | null }[] }
type Lineage = { lineage: { models: string[]; deployments: string[]; init_from: string[] } }

/** Submits a short training of the language model. */
async function submit(forge: Forge, spec: object, project = 'demo') {
  const { body: lock } = await forge.call('GET', '/api/recipes/tiny-lm/1.0.0/lock')
  const params = { steps: 40, hidden: 16, eval_every: 20, checkpoint_every: 20, samples: 1 }
  return forge.call<Submitted>('POST', '/api/jobs', {
    body: {
      ...{ api: 'forge/v2', metadata: { name: 'trains', project }, lock },
      spec: { params, ...spec },
    },
  })
}

const untilEnded = (forge: Forge, run_id: string) =>
  until('the job has succeeded', 200_000, async () => {
    const { body } = await forge.call<{ state: string }>('GET', `/api/jobs/${run_id}`)
    if (body.state === 'failed' || body.state === 'stopped') throw new Error(JSON.stringify(body))
    return body.state === 'succeeded'
  })

test('a run becomes a version of the model that its spec names, and others start from that version', async t => {
  t.timeout(patient(400_000), 'the environment of the recipe is built')
  const forge = await startForge(t)
  const first = await submit(forge, {})
  t.is(first.status, 200, JSON.stringify(first.body))
  const model = { name: 'bard', project: 'demo' }
  t.is((await forge.call('POST', '/api/models', { body: model })).status, 200)
  const wanted = { outputs: { register_model: 'bard' } }
  const metric = { key: 'val/loss', goal: 'min' }
  const { body: made } = await submit(forge, { ...wanted, checkpoints: { metric } })
  await untilEnded(forge, made.run_id)
  const [version] = await until('there is a version', 30_000, async () => {
    const { body } = await forge.call<Version[]>('GET', '/api/models/bard/versions')
    return body.length > 0 && body
  })
  t.like(version, { version: 1, source: { run_id: made.run_id } })
  const { body: run } = await forge.call<Lineage>('GET', `/api/runs/${made.run_id}`)
  t.deepEqual(run.lineage.models, ['bard@1'])

  // The alias moves after the job was admitted; the job begins from the earlier version.
  const alias = '/api/models/bard/aliases/candidate'
  t.is((await forge.call('PUT', alias, { body: { version: 1 } })).status, 200)
  const begun = await submit(forge, { init_from: { model: 'bard@candidate' } })
  t.is(begun.status, 200, JSON.stringify(begun.body))
  await forge.call('DELETE', alias)
  const artifact = version?.source.artifact_id ?? ''
  const { body: job } = await forge.call<{ init_from: string }>(
    'GET',
    `/api/jobs/${begun.body.run_id}`,
  )
  t.is(job.init_from, artifact)
  await untilEnded(forge, begun.body.run_id)

  const gone = await submit(forge, { init_from: { model: 'bard@candidate' } })
  t.is(gone.status, 400)
  t.regex(gone.body.detail, /init_from\.model: No such model version: bard@candidate/)
  const both = await submit(forge, { init_from: { model: 'bard@1', artifact_id: artifact } })
  t.regex(both.body.detail, /name only one of them/)
  const none = await submit(forge, { outputs: { register_model: 'nobody' } })
  t.is(none.status, 400)
  t.regex(none.body.detail, /No such registered model: nobody; create it first/)
  const foreign = await submit(forge, wanted, 'elsewhere')
  t.is(foreign.status, 400)
  t.regex(foreign.body.detail, /belongs to project demo/)

  const late = await submit(forge, wanted)
  t.is((await forge.call('DELETE', '/api/models/bard')).status, 200)
  await untilEnded(forge, late.body.run_id)
  await until('its owner is notified', 30_000, async () => {
    const { body } = await forge.call<{ title: string; body: string }[]>(
      'GET',
      '/api/notifications',
    )
    return body.some(
      ({ title, body: text }) =>
        title === `${late.body.short_id} did not become a version of bard` &&
        text.includes('No such model'),
    )
  })
})

test('an artifact that a deployment serves cannot be deleted, until it no longer serves it', async t => {
  t.timeout(patient(400_000), 'the environment of the recipe is built')
  const forge = await startForge(t)
  const { body: made } = await submit(forge, {})
  await untilEnded(forge, made.run_id)
  const source = { kind: 'run', run_id: made.run_id }
  const served = await forge.call<{ deployment_id: string }>('POST', '/api/deployments', {
    body: { name: 'served', source, serving: { template: 'tiny-lm' } },
  })
  t.is(served.status, 200, JSON.stringify(served.body))
  const path = `/api/deployments/${served.body.deployment_id}`
  const [revision] = await until('its engine has a job', 60_000, async () => {
    const { body } = await forge.call<Served[]>('GET', `${path}/revisions`)
    return body[0]?.engines[0]?.run_id ? body : null
  })
  const artifact = `/api/artifacts/${revision?.source.artifact_id}`
  const refused = await forge.call<{ detail: string }>('DELETE', artifact)
  t.is(refused.status, 409)
  t.regex(refused.body.detail, /the deployment served serves it/)
  const { body: run } = await forge.call<Lineage>('GET', `/api/runs/${made.run_id}`)
  t.deepEqual(run.lineage.deployments, [served.body.deployment_id])
  t.is((await forge.call('DELETE', path)).status, 200)
  await until(
    'it may be deleted',
    60_000,
    async () => (await forge.call('DELETE', artifact)).status === 200,
  )
})
