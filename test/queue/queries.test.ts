import test, { type ExecutionContext } from 'ava'
import { type Forge, startForge } from '../servers/forge.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'

type Row = {
  short_id: string
  position: number | null
  reason: string
  detail: string
  owner: string
  eta_s: { p50: number; p90: number } | null
}
type Queue = {
  paused: { reason: string | null } | null
  draining: { engine: string }[]
  waiting: { jobs: number; gpus: number; hidden: number }
  jobs: Row[]
}
type Explanation = {
  state: string
  position: number | null
  reason: string | null
  detail: string
  ahead: { jobs: number; gpus: number; hidden: number; first: { short_id: string }[] }
  sooner: { kind: string; detail: string }[]
}

/** A server without an executor, so that jobs stay in the queue, with four GPUs that an admin described. */
async function world(t: ExecutionContext) {
  const forge = await startForge(t, { SERVICE_ROLES: 'command-api,relay,projector,query-api' })
  await forge.call('PUT', '/api/admin/profiles/local', {
    body: { series: 'local', gpus_per_node: 4, executor: 'local' },
  })
  const { body: lock } = await forge.call('GET', '/api/recipes/digits/1.0.0/lock')
  const submit = async (project: string, token: string, spec: object = {}) => {
    const body = { api: 'forge/v2', metadata: { name: 'a job', project }, lock, spec }
    const answer = await forge.call<{ run_id: string }>('POST', '/api/jobs', { body, token })
    t.is(answer.status, 200, JSON.stringify(answer.body))
    return answer.body.run_id
  }
  return { forge, submit, ada: await signedIn(forge, 'ada'), bob: await signedIn(forge, 'bob') }
}

const queueOf = async (forge: Forge, token?: string) =>
  (await forge.call<Queue>('GET', '/api/queue', token ? { token } : {})).body

test('the queue shows people their own jobs in order, and counts others’ jobs', async t => {
  const { forge, submit, ada, bob } = await world(t)
  await submit('ada-s', ada)
  await submit('ada-s', ada)
  await submit('bob-s', bob, { resources: { gpus_per_node: 2 } })
  await submit('ada-s', ada, { scheduling: { not_before: '2099-01-01T00:00:00+00:00' } })
  const all = await until('the read models know every job', 60_000, async () => {
    const queue = await queueOf(forge)
    return queue.jobs.length === 4 && queue
  })
  t.deepEqual(
    all.jobs.map(row => [row.short_id, row.position, row.reason]),
    [
      ['ada-s-1', 1, 'waiting_capacity'],
      ['bob-s-1', 2, 'waiting_capacity'],
      ['ada-s-2', 3, 'waiting_capacity'],
      ['ada-s-3', null, 'not_before'],
    ],
  )
  t.regex(all.jobs[3]?.detail ?? '', /held until 2099-01-01/)
  t.deepEqual(all.waiting, { jobs: 4, gpus: 5, hidden: 0 })
  const seen = await queueOf(forge, bob)
  t.deepEqual(
    seen.jobs.map(row => [row.short_id, row.position]),
    [['bob-s-1', 2]],
  )
  t.deepEqual(seen.waiting, { jobs: 4, gpus: 5, hidden: 3 })
  t.false(JSON.stringify(seen).includes('ada'))
})

test('the explanation says why a job waits and who is ahead, without hidden jobs', async t => {
  const { forge, submit, ada, bob } = await world(t)
  await submit('ada-s', ada, { resources: { gpus_per_node: 4 } })
  const run_id = await submit('bob-s', bob)
  const explain = async (id: string, token: string) =>
    forge.call<Explanation>('GET', `/api/queue/${id}`, { token })
  const body = await until('the read models know both', 60_000, async () => {
    const answer = await explain(run_id, bob)
    return answer.status === 200 && answer.body.state === 'queued' && answer.body
  })
  t.like(body, { state: 'queued', position: 2, ahead: { jobs: 1, gpus: 4, hidden: 1, first: [] } })
  t.false(JSON.stringify(body).includes('ada'))
  t.is((await explain(run_id, ada)).status, 404)
  const toAdmin = await until('the read models know it for all', 60_000, async () => {
    const answer = await explain('bob-s-1', forge.token)
    return answer.status === 200 && answer.body
  })
  t.deepEqual(
    toAdmin.ahead.first.map(row => row.short_id),
    ['ada-s-1'],
  )
  await forge.call('POST', `/api/jobs/${run_id}/stop`, { token: bob })
  const ended = await until('the read models know its end', 60_000, async () => {
    const answer = await explain(run_id, bob)
    return answer.body.state === 'stopped' && answer.body
  })
  t.like(ended, { position: null, detail: 'It does not wait: it is stopped.' })
})

test('there is no estimated start while the queue is paused or its engine drained', async t => {
  const { forge, submit, ada } = await world(t)
  const put = (path: string, body: object) => forge.call('PUT', path, { body })
  const etaOf = async () => (await queueOf(forge, ada)).jobs[0]?.eta_s
  await submit('ada-s', ada)
  const whenOpen = () => until('its start is foreseen', 60_000, etaOf)
  await whenOpen()
  for (const [path, shut, open] of [
    ['/api/admin/queue', { paused: true }, { paused: false }],
    ['/api/admin/engines/local', { draining: true }, { draining: false }],
  ] as const) {
    await put(path, shut)
    await until(`its start is not foreseen (${path})`, 60_000, async () => (await etaOf()) === null)
    const spec = { api: 'forge/v2', metadata: { name: 'later', project: 'ada-s' } }
    const { body: lock } = await forge.call('GET', '/api/recipes/digits/1.0.0/lock')
    const { body } = await forge.call<{ queue: { eta_s: unknown } }>(
      'POST',
      '/api/jobs/preflight',
      { body: { ...spec, lock }, token: ada },
    )
    t.is(body.queue.eta_s, null)
    await put(path, open)
    await whenOpen()
  }
})

test('the time until which a job is held has the format of all times', async t => {
  const { forge, submit, ada } = await world(t)
  const not_before = '2099-01-01T02:00:00.250+02:00'
  const run_id = await submit('ada-s', ada, { scheduling: { not_before } })
  const { body } = await forge.call<{ holds: unknown }>('GET', `/api/jobs/${run_id}`, {
    token: ada,
  })
  t.deepEqual(body.holds, [{ reason: 'not_before', until: '2099-01-01T00:00:00+00:00' }])
})

test('a pause and a drain are recorded, shown to all, and only for administrators', async t => {
  const { forge, submit, ada } = await world(t)
  const put = (path: string, body: object, token = forge.token) =>
    forge.call('PUT', path, { body, token })
  const pause = { paused: true, reason: 'new disks' }
  t.is((await put('/api/admin/queue', pause, ada)).status, 403)
  t.like((await put('/api/admin/queue', pause)).body, {
    paused: true,
    reason: 'new disks',
    changed_by: 'admin',
  })
  t.like(await queueOf(forge, ada), { paused: { reason: 'new disks' } })
  await submit('ada-s', ada)
  const drain = { draining: true, reason: 'fans' }
  t.like((await put('/api/admin/engines/local', drain)).body, {
    engine: 'local',
    draining: true,
    reason: 'fans',
    by: 'admin',
    running_jobs: 0,
  })
  t.is((await put('/api/admin/engines/nowhere', drain)).status, 404)
  t.is((await put('/api/admin/engines/nowhere', { draining: false })).status, 404)
  t.like(await queueOf(forge, ada), { draining: [{ engine: 'local', reason: 'fans' }] })
  await put('/api/admin/queue', { paused: false })
  await put('/api/admin/engines/local', { draining: false })
  t.like(await queueOf(forge, ada), { paused: null, draining: [] })
  const told = await until('all are in the audit', 60_000, async () => {
    const { body } = await forge.call<{ type: string; summary: string }[]>(
      'GET',
      '/api/audit?limit=100',
    )
    const lines = body.flatMap(row => (/^(queue|engine)\./.test(row.type) ? row.summary : []))
    return lines.length === 4 && lines.toReversed()
  })
  t.deepEqual(told, [
    'admin paused the queue: new disks',
    'admin began to drain the engine local: fans',
    'admin resumed the queue',
    'admin stopped draining the engine local',
  ])
})
