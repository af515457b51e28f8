import test from 'ava'
import { type Forge, sharedForge } from '../servers/forge.ts'
import { createRun, type ExternalRun, ingest } from '../servers/runs.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'

type Listed = { run_id: string; deleted_at: string | null }[]
type Deleted = {
  deleted_at: string
  restorable_until: string
  references: { kind: string; run_id: string; artifact_id: string | null }[]
  references_total: number
}

const shared = sharedForge({ SERVICE_ROLES: 'command-api,relay,projector,query-api' })

async function endedRun(forge: Forge, project: string): Promise<ExternalRun> {
  const run = await createRun(forge, project)
  await ingest(forge, run, 'metrics', { points: [{ key: 'loss', step: 1, value: 2 }] })
  await ingest(forge, run, 'lifecycle', { event: 'succeeded' })
  return run
}

const remove = (forge: Forge, run_id: string) =>
  forge.call<Deleted>('DELETE', `/api/runs/${run_id}`)
const list = async (forge: Forge, query: string) => {
  const { status, body } = await forge.call<Listed>('GET', `/api/runs?${query}`)
  if (status !== 200) throw new Error(`the list: ${status} ${JSON.stringify(body)}`)
  return body.map(run => run.run_id)
}

test('a deleted run appears only in the list of deleted runs, until it is restored', async t => {
  const forge = await shared()
  const run = await endedRun(forge, 'hidden')
  const kept = await endedRun(forge, 'hidden')
  const { status, body } = await remove(forge, run.short_id)
  t.is(status, 200)
  t.like(body, { run_id: run.run_id, references: [], references_total: 0 })
  t.is(Date.parse(body.restorable_until) - Date.parse(body.deleted_at), 30 * 86_400_000)

  const paths = ['', '/metrics?keys=loss', '/logs', '/hparams', '/lineage']
  for (const path of paths)
    t.is((await forge.call('GET', `/api/runs/${run.run_id}${path}`)).status, 404, path)
  t.is((await forge.call('GET', `/api/runs/compare?ids=${run.run_id},${kept.run_id}`)).status, 404)
  t.deepEqual(await list(forge, 'project=hidden'), [kept.run_id])
  t.deepEqual(await list(forge, 'project=hidden&sort=metric:loss:last'), [kept.run_id])
  t.deepEqual(await list(forge, 'project=hidden&deleted=true'), [run.run_id])
  t.like((await forge.call('GET', '/api/projects/hidden')).body, { runs: 1 })
  for (const [method, action] of [
    ['DELETE', ''],
    ['POST', '/stop'],
    ['POST', '/token'],
  ] as const)
    t.is((await forge.call(method, `/api/runs/${run.run_id}${action}`)).status, 404, action)

  const restored = await forge.call('POST', `/api/runs/${run.short_id}/restore`)
  t.like(restored.body, { run_id: run.run_id, restored: true, already: false })
  t.like((await forge.call('POST', `/api/runs/${run.run_id}/restore`)).body, { already: true })
  t.like((await forge.call('GET', `/api/runs/${run.run_id}`)).body, { deleted_at: null })
  t.deepEqual(await list(forge, 'project=hidden&deleted=true'), [])
  t.is((await list(forge, 'project=hidden')).length, 2)
  t.is((await remove(forge, run.run_id)).status, 200, 'and can be deleted again')
})

test('people who may restore a deleted run read its record on request', async t => {
  const forge = await shared()
  const run = await endedRun(forge, 'fetched')
  const [member, maintainer] = [await signedIn(forge, 'vic'), await signedIn(forge, 'mia')]
  for (const [username, role] of Object.entries({ vic: 'member', mia: 'maintainer' }))
    await forge.call('PUT', `/api/projects/fetched/members/${username}`, { body: { role } })
  const read = async (token: string, id = run.run_id) =>
    forge.call<object>('GET', `/api/runs/${id}?deleted=true`, { token })
  t.is((await read(forge.token)).status, 404, 'it is not deleted')
  const { body } = await remove(forge, run.run_id)
  const { deleted_at } = body
  for (const id of [run.run_id, run.short_id])
    for (const token of [forge.token, maintainer])
      t.like((await read(token, id)).body, { run_id: run.run_id, state: 'succeeded', deleted_at })
  t.is((await read(member)).status, 404)
  t.is((await read(await signedIn(forge, 'nobody'))).status, 404)
})

test('reports for a deleted run are refused at once', async t => {
  const forge = await shared()
  const run = await endedRun(forge, 'late')
  const report = () =>
    forge.call('POST', '/api/ingest/hparams', {
      token: run.token,
      body: { run_id: run.run_id, params: { lr: 1 } },
    })
  t.is((await report()).status, 200, 'within 15 minutes of the end')
  await remove(forge, run.run_id)
  const refused = await until('its token is refused', 20_000, async () => {
    const answer = await report()
    return answer.status === 200 ? null : answer
  })
  t.is(refused.status, 401)
})

test('deleting a run that has not ended is refused, with a remedy', async t => {
  const forge = await shared()
  const run = await createRun(forge, 'active')
  const { status, body } = await forge.call('DELETE', `/api/runs/${run.run_id}`)
  t.is(status, 409)
  t.like(body, { code: 'run.active' })
  t.regex(String(body.detail), new RegExp(`stop it first: POST /api/runs/${run.run_id}/stop`))
})

test('only people who may control a run may delete it', async t => {
  const forge = await shared()
  const run = await endedRun(forge, 'guarded')
  const token = await signedIn(forge, 'stranger')
  for (const [method, path] of [
    ['DELETE', ''],
    ['POST', '/restore'],
  ] as const) {
    const call = () => forge.call(method, `/api/runs/${run.run_id}${path}`, { token })
    await forge.call('PATCH', '/api/projects/guarded', { body: { visibility: 'private' } })
    t.is((await call()).status, 404, method)
    await forge.call('PATCH', '/api/projects/guarded', { body: { visibility: 'internal' } })
    t.is((await call()).status, 403, method)
  }
  t.deepEqual(await list(forge, 'project=guarded'), [run.run_id])
})

test('references to a run are listed, without hidden ones', async t => {
  const forge = await shared()
  await forge.call('PUT', '/api/admin/profiles/spare', {
    body: { series: 'X', gpus_per_node: 1, executor: 'local' },
  })
  const ada = await signedIn(forge, 'ada')
  const { body: lock } = await forge.call('GET', '/api/recipes/digits/1.0.0/lock')
  const submit = async (project: string, spec: object, token = forge.token, labels = {}) => {
    const body = { api: 'forge/v2', metadata: { name: 'n', project, labels }, lock, spec }
    const { status, body: job } = await forge.call<{ run_id: string }>('POST', '/api/jobs', {
      body,
      token,
    })
    t.is(status, 200, JSON.stringify(job))
    return job.run_id
  }
  const spec = { resources: { profile: 'spare' } }
  const first = await submit('adas', spec, ada)
  const artifact_id = 'art_of_the_first'
  await forge.pool.query(
    `insert into write.artifact (artifact_id, run_id, kind, path, step, format)
     values ($1, $2, 'checkpoint', '/checkpoints/1', 1, 'npz')`,
    [artifact_id, first],
  )
  await forge.pool.query(
    `insert into write.resource (kind, id, within_kind, within_id) values ('artifact', $1, 'run', $2)`,
    [artifact_id, first],
  )
  await forge.call('POST', `/api/jobs/${first}/stop`, { body: { force: true }, token: ada })
  const begun = await submit('adas', { ...spec, init_from: { artifact_id } }, ada)
  const retried = await submit('adas', spec, ada, { 'retry-of': first })
  await submit('elsewhere', spec, forge.token, { 'clone-of': first })

  const deleted = await forge.call<Deleted>('DELETE', `/api/runs/${first}`, { token: ada })
  t.is(deleted.status, 200, JSON.stringify(deleted.body))
  t.is(deleted.body.references_total, 3)
  t.like(deleted.body.references, [
    { kind: 'init_from', run_id: begun, artifact_id },
    { kind: 'retry', run_id: retried, artifact_id: null },
  ])
  t.is(deleted.body.references.length, 2, 'not the run of a project that she may not read')

  await until('others see that it is gone', 20_000, async () => {
    const { status } = await forge.call('GET', `/api/jobs/${first}`)
    return status === 404
  })
  const jobs = await forge.call<Listed>('GET', '/api/jobs?project=adas')
  t.deepEqual(jobs.body.map(job => job.run_id).sort(), [begun, retried].sort())
  const again = await forge.call('POST', '/api/jobs', {
    body: {
      ...{ api: 'forge/v2', metadata: { name: 'n', project: 'adas' }, lock },
      spec: { ...spec, init_from: { artifact_id } },
    },
    token: ada,
  })
  t.is(again.status, 400, 'nothing starts from a deleted run')
})
