import test from 'ava'
import { type Forge, sharedForge } from '../servers/forge.ts'

const shared = sharedForge()

type Created = {
  run_id: string
  short_id: string
  token: string
  env: Record<string, string>
  expires_at: string
}
type Refused = { detail: string; request_id: string }

const create = (forge: Forge, headers: Record<string, string> = {}, project = 'demo') =>
  forge.call<Created>('POST', '/api/runs', { body: { project }, headers })

const report = (forge: Forge, run: Created, event: string, token = run.token) =>
  forge.call('POST', '/api/ingest/lifecycle', { token, body: { run_id: run.run_id, event } })

test('an external run is created with its token, numbered within its project, and lives by its reports', async t => {
  const forge = await shared()
  const { status, body: run } = await create(forge, {}, 'numbered')
  t.is(status, 200)
  t.regex(run.run_id, /^run_[0-9A-Z]{26}$/)
  t.is(run.short_id, 'numbered-1')
  t.regex(run.token, /^fit_[0-9A-Z]{26}_[\w-]{43}$/)
  t.deepEqual(run.env, {
    SERVICE_ENABLED: '1',
    SERVICE_ENDPOINT: `http://localhost:${new URL(forge.url).port}/api/ingest`,
    SERVICE_RUN_ID: run.run_id,
    SERVICE_TOKEN: run.token,
    MLFLOW_TRACKING_URI: `http://localhost:${new URL(forge.url).port}/api/ingest/mlflow`,
    MLFLOW_TRACKING_TOKEN: run.token,
    MLFLOW_RUN_ID: run.run_id,
  })
  t.is((await create(forge, {}, 'numbered')).body.short_id, 'numbered-2')
  const none = { action: 'none', reason: null, deadline: null }
  t.like((await report(forge, run, 'starting')).body, {
    state: 'pending',
    applied: true,
    duplicate: false,
    billing_started_at: null,
    control: none,
  })
  const running = await report(forge, run, 'running')
  t.like(running.body, {
    ok: true,
    run_id: run.run_id,
    event: 'running',
    state: 'running',
    applied: true,
    duplicate: false,
  })
  t.truthy(running.body.billing_started_at)
  t.is(running.headers.get('forge-control'), 'none')
  const again = await report(forge, run, 'running')
  t.like(again.body, {
    applied: false,
    duplicate: true,
    billing_started_at: running.body.billing_started_at,
  })
  t.like((await report(forge, run, 'succeeded')).body, { state: 'succeeded', applied: true })
  t.like((await report(forge, run, 'running')).body, { state: 'succeeded', applied: false })
  t.like((await report(forge, run, 'failed')).body, { state: 'succeeded', applied: false })
})

test('an ingest token works only for reports of its own run', async t => {
  const forge = await shared()
  const [mine, other] = [(await create(forge)).body, (await create(forge)).body]
  const foreign = await report(forge, other, 'running', mine.token)
  const unknown = await report(
    forge,
    { ...other, run_id: 'run_00000000000000000000000000' },
    'running',
    mine.token,
  )
  t.is(foreign.status, 403)
  t.is(unknown.status, 403)
  t.is(String(foreign.body.detail), String(unknown.body.detail))
  t.is((await forge.call('GET', '/api/rubrics', { token: mine.token })).status, 401)
  t.is((await report(forge, mine, 'running', forge.token)).status, 401)
  t.is(
    (
      await report(
        forge,
        mine,
        'running',
        `${mine.token.slice(0, -1)}${mine.token.endsWith('A') ? 'B' : 'A'}`,
      )
    ).status,
    401,
  )
  t.is((await report(forge, mine, 'running', 'fit_nonsense')).status, 401)
})

test('both token headers are accepted if they agree, and 401 if they differ', async t => {
  const forge = await shared()
  const { body: run } = await create(forge)
  const send = (service: string, token: string | null) =>
    forge.call('POST', '/api/ingest/lifecycle', {
      token,
      headers: { 'x-service-token': service },
      body: { run_id: run.run_id, event: 'starting' },
    })
  t.is((await send(run.token, null)).status, 200)
  t.is((await send(run.token, run.token)).status, 200)
  t.is((await send(run.token, forge.token)).status, 401)
})

test('a new token ends the old one', async t => {
  const forge = await shared()
  const { body: run } = await create(forge)
  const { body: issued } = await forge.call<Created>('POST', `/api/runs/${run.run_id}/token`)
  t.not(issued.token, run.token)
  t.is((await report(forge, run, 'running', issued.token)).status, 200)
  // An unused token is in no cache, so it is invalid at once.
  t.is((await report(forge, run, 'running')).status, 401)
  t.is((await forge.call('POST', '/api/runs/run_nope/token')).status, 404)
})

test('the same Idempotency-Key creates one run, even when sent 20 times at once; another body is 409', async t => {
  const forge = await shared()
  const key = { 'idempotency-key': 'once' }
  const answers = await Promise.all(Array.from({ length: 20 }, () => create(forge, key)))
  t.deepEqual([...new Set(answers.map(answer => answer.status))], [200])
  t.is(new Set(answers.map(answer => answer.body.run_id)).size, 1)
  const fresh = answers.filter(answer => answer.headers.get('idempotency-replayed') === null)
  t.is(fresh.length, 1)
  t.truthy(fresh[0]?.body.token)
  const replayed = answers.filter(answer => answer.headers.get('idempotency-replayed') === 'true')
  t.true(
    replayed.every(({ body: { token, env } }) =>
      [token, env.SERVICE_TOKEN, env.MLFLOW_TRACKING_TOKEN].every(one => one === null),
    ),
  )
  t.is((await create(forge, key, 'other')).status, 409)
})

test('hyperparameters are added to and changed', async t => {
  const forge = await shared()
  const { body: run } = await create(forge)
  const set = (params: object) =>
    forge.call<Refused>('POST', '/api/ingest/hparams', {
      token: run.token,
      body: { run_id: run.run_id, params },
    })
  t.deepEqual((await set({ lr: 0.1, seed: 1 })).body as object, {
    ok: true,
    added: 2,
    changed: 0,
    total: 2,
  })
  t.deepEqual((await set({ lr: 0.2, depth: 3 })).body as object, {
    ok: true,
    added: 1,
    changed: 1,
    total: 3,
  })
  t.is((await set({ nested: { a: 1 } })).status, 422)
})
