import test from 'ava'
import { graphOf } from '../../query-api/lineage/walk.ts'
import type { LineageGraph } from '../../schemas/lineage.ts'
import { deploymentsOn } from '../artifacts/deployments-on.ts'
import { push, textRows, untilValidated } from '../datasets/pushing.ts'
import { type Forge, sharedForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'

const shared = sharedForge({ SERVICE_ROLES: 'command-api,relay,projector,query-api' })

type Answer = LineageGraph & { detail: string }

/** Data, from whose second version a job and an external run learn; the model and the deployment of the run. */
async function history(forge: Forge) {
  await forge.call('PUT', '/api/admin/profiles/spare', {
    body: { series: 'X', gpus_per_node: 1, executor: 'local' },
  })
  await push(forge, 'admin/sums', { 'train.jsonl': textRows('1 + 1 = 2') })
  await untilValidated(forge, 'admin/sums')
  const more = { 'train.jsonl': textRows('1 + 1 = 2', '2 + 2 = 4') }
  await push(forge, 'admin/sums', more, { parents: ['admin/sums@1'] })
  await untilValidated(forge, 'admin/sums', 2)
  const run = await createRun(forge, 'grown')
  const checkpoint = { kind: 'checkpoint', path: 's3://b/3', format: 'npz', step: 3 }
  const { artifact_id } = await ingest(forge, run, 'artifact', checkpoint)
  await ingest(forge, run, 'artifact', { ...checkpoint, path: 's3://b/4', step: 4 })
  const { body: lock } = await forge.call('GET', '/api/recipes/digits/1.0.0/lock')
  const { status, body: job } = await forge.call<{ run_id: string }>('POST', '/api/jobs', {
    body: {
      ...{ api: 'forge/v2', metadata: { name: 'begun', project: 'grown' }, lock },
      spec: {
        resources: { profile: 'spare' },
        datasets: [{ ref: 'admin/sums@2', as: 'sums' }],
        init_from: { artifact_id },
      },
    },
  })
  if (status !== 200) throw new Error(JSON.stringify(job))
  await forge.call('POST', '/api/models', { body: { name: 'bard', project: 'grown' } })
  await forge.call('POST', '/api/models/bard/versions', { body: { artifact_id } })
  await deploymentsOn(forge).serve('bard', String(artifact_id), 'grown')
  return { run, job, artifact_id: String(artifact_id) }
}

const readerOf = (forge: Forge, token: string) => (path: string) =>
  forge.call<Answer>('GET', `/api/lineage/${path}`, { token })

/** Waits until as many things as these are in the lineage. */
const untilKnown = (read: ReturnType<typeof readerOf>, path: string, nodes: number) =>
  until(`${path} has ${nodes} things`, 30_000, async () => {
    const { status, body } = await read(path)
    return status === 200 && body.nodes.length === nodes && body
  })

const inWords = ({ edges }: LineageGraph) =>
  edges.map(({ kind, from, to }) => `${from} ${kind} ${to}`).sort()

test('the lineage leads from data over runs and models to a deployment, from each of them', async t => {
  t.timeout(patient(120_000))
  const forge = await shared()
  const { run, job, artifact_id } = await history(forge)
  const read = readerOf(forge, forge.token)
  const expected = [
    `dataset:admin/sums@1 derived dataset:admin/sums@2`,
    `dataset:admin/sums@2 used run:${job.run_id}`,
    `artifact:${artifact_id} init_from run:${job.run_id}`,
    `run:${run.run_id} made artifact:${artifact_id}`,
    `artifact:${artifact_id} registered model:bard@1`,
    `artifact:${artifact_id} served deployment:dep_bard`,
  ].sort()
  const paths = {
    [`runs/${run.short_id}`]: `run:${run.run_id}`,
    [`runs/${job.run_id}`]: `run:${job.run_id}`,
    [`artifacts/${artifact_id}`]: `artifact:${artifact_id}`,
    'datasets/admin/sums/versions/1': 'dataset:admin/sums@1',
    'models/bard/versions/1': 'model:bard@1',
    'deployments/dep_bard': 'deployment:dep_bard',
  }
  for (const [path, id] of Object.entries(paths)) {
    const found = await untilKnown(read, path, 7)
    t.is(found.id, id)
    t.deepEqual(inWords(found), expected, path)
    t.false(found.truncated)
  }
  for (const path of [
    'datasets/admin/sums/versions/9',
    'models/bard/versions/9',
    'artifacts/art_x',
  ])
    t.is((await read(path)).status, 404, path)

  // Members of the project see everything but the private data; strangers see nothing.
  const member = await signedIn(forge, 'meg')
  await forge.call('PUT', '/api/projects/grown/members/meg', { body: { role: 'viewer' } })
  const asMember = readerOf(forge, member)
  const seen = await untilKnown(asMember, `runs/${job.run_id}`, 6)
  const hidden = seen.nodes.filter(({ type }) => type === 'hidden')
  t.deepEqual(
    hidden.map(({ ref, name, owner }) => [ref, name, owner]),
    [[null, null, null]],
  )
  t.false(JSON.stringify(seen).includes('sums'))
  t.true(inWords(seen).includes(`hidden:1 used run:${job.run_id}`))
  t.is((await asMember('datasets/admin/sums/versions/2')).status, 404)
  const asStranger = readerOf(forge, await signedIn(forge, 'sam'))
  for (const path of Object.keys(paths)) t.is((await asStranger(path)).status, 404, path)

  // Who may see the data alone learns nothing about the runs of others.
  await forge.call('PATCH', '/api/datasets/admin/sums', { body: { visibility: 'public' } })
  const data = await untilKnown(asStranger, 'datasets/admin/sums/versions/2', 2)
  t.deepEqual(inWords(data), ['dataset:admin/sums@1 derived dataset:admin/sums@2'])
})

test('a lineage that ends at its limit says so, and calls nothing hidden that it has not read', t => {
  const thing = (ref: string, origins: string[]) => ({
    ...{ type: 'run' as const, ref, name: ref, owner: 'ada', state: 'succeeded' },
    created_at: new Date(0),
    origins: origins.map(origin => ({ kind: 'clone' as const, type: 'run' as const, ref: origin })),
  })
  const things = new Map([['run:b', thing('b', ['a'])]])
  t.deepEqual(graphOf(things, true).edges, [])
  t.is(graphOf(things, true).nodes.length, 1)
  t.deepEqual(graphOf(things, false).edges, [{ kind: 'clone', from: 'hidden:1', to: 'run:b' }])
})
