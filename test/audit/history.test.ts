import test from 'ava'
import { Type } from 'typebox'
import { event } from '../../events/event.ts'
import { differences } from '../../query-api/audit/differences.ts'
import { current } from '../../query-api/audit/events.ts'
import type { AuditDiff, AuditRow, AuditState } from '../../schemas/audit.ts'
import { asExecutor, endedWell } from '../servers/as-executor.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { until } from '../servers/until.ts'

const roles = { SERVICE_ROLES: 'command-api,relay,projector,query-api' }

type JobDetail = { state: string; attempt: number; queue_reason?: string }
type Folded = { state: string; attempt: number }

const ask = <T>(forge: Forge, path: string, query: Record<string, string>) =>
  forge.call<T>('GET', `/api/audit${path}?${new URLSearchParams(query)}`)

async function submit(forge: Forge): Promise<string> {
  await forge.call('PUT', '/api/admin/profiles/local', {
    body: { series: 'local', gpus_per_node: 4, executor: 'local' },
  })
  const { body: lock } = await forge.call('GET', '/api/recipes/digits/1.0.0/lock')
  const metadata = { name: 'a job', project: 'demo' }
  const { body } = await forge.call<{ run_id: string }>('POST', '/api/jobs', {
    body: { api: 'forge/v2', metadata, lock, spec: {} },
  })
  return body.run_id
}

test('at each instant of its life, the folded state of a job equals its read model', async t => {
  const forge = await startForge(t, roles)
  const executor = asExecutor(forge.pool)
  const before = new Date().toISOString()
  const run_id = await submit(forge)
  const report = async (attempt: number, event: string) => {
    const { reporting } = await executor.launch(run_id, attempt)
    const { status } = await forge.call('POST', '/api/ingest/lifecycle', {
      token: String(reporting.SERVICE_TOKEN),
      body: { run_id, event, attempt },
    })
    t.is(status, 200)
  }
  const act = (verb: string) => forge.call('POST', `/api/jobs/${run_id}/${verb}`)
  const life: [state: string, attempt: number, step: () => Promise<unknown>][] = [
    ['queued', 0, async () => {}],
    ['scheduled', 1, () => executor.schedule(run_id, [0])],
    ['starting', 1, () => executor.executorRunning(run_id, 1, new Date().toISOString())],
    ['running', 1, () => report(1, 'running')],
    ['pausing', 1, () => act('pause')],
    ['paused', 1, () => executor.exited(run_id, 1, endedWell())],
    ['queued', 1, () => act('resume')],
    ['scheduled', 2, () => executor.schedule(run_id, [0])],
    ['running', 2, () => report(2, 'running')],
    ['succeeded', 2, () => report(2, 'succeeded')],
  ]
  const shown: { at: string; job: JobDetail }[] = []
  for (const [state, attempt, step] of life) {
    await step()
    const job = await until(`the read model shows ${state}`, 30_000, async () => {
      const { body } = await forge.call<JobDetail>('GET', `/api/jobs/${run_id}`)
      return body.state === state && body.attempt === attempt ? body : null
    })
    const at = new Date().toISOString()
    shown.push({ at, job })
    await until('the next event is a later one', 5000, () => new Date().toISOString() > at)
  }
  const target = `job:${run_id}`
  for (const { at, job } of shown) {
    const { body } = await ask<AuditState>(forge, '/state', { target, at })
    const { state, attempt } = body.state as Folded
    t.deepEqual({ state, attempt }, { state: job.state, attempt: job.attempt }, at)
  }
  const early = await ask<AuditState>(forge, '/state', { target, at: before })
  t.like(early.body, { version: 0, state: null })
  const newest = await ask<AuditState>(forge, '/state', { target })
  t.is((newest.body.state as Folded).state, 'succeeded')
  const { body: rows } = await ask<AuditRow[]>(forge, '', { target })
  t.is(newest.body.version, rows.length)
  t.deepEqual(
    rows.map(row => row.version),
    rows.map((_, index) => rows.length - index),
  )
  for (const row of rows) {
    const { body } = await ask<AuditState>(forge, '/state', { target, at: row.occurred_at })
    t.true(body.version >= row.version, 'the time of an event takes it in')
  }
  const [from, to] = [String(shown[3]?.at), String(shown[4]?.at)]
  const { body: diff } = await ask<AuditDiff>(forge, '/diff', { target, from, to })
  t.deepEqual(
    diff.events.map(row => row.type),
    ['job.pause_requested'],
  )
  t.like(
    diff.changes.find(({ path }) => path === '/state'),
    { from: 'running', to: 'pausing' },
  )
  t.is(diff.changes.find(({ path }) => path === '/request/reason')?.to, 'user')
})

test('other targets are folded too, and their changes are listed', async t => {
  const forge = await startForge(t, roles)
  const quota = (gpus: number) =>
    forge.call('POST', '/api/admin/quotas', {
      body: { username: 'admin', max_concurrent_gpus: gpus },
    })
  await quota(1)
  const from = new Date().toISOString()
  await until('the next event is a later one', 5000, () => new Date().toISOString() > from)
  await quota(2)
  const to = new Date().toISOString()
  const target = 'quota:admin'
  const { body } = await ask<AuditDiff>(forge, '/diff', { target, from, to })
  t.deepEqual(body.changes, [{ path: '/limits/max_concurrent_gpus', from: 1, to: 2 }])
  t.is(body.event_count, 1)
  await forge.call('POST', '/api/runs', { body: { project: 'demo' } })
  const project = await ask<AuditState>(forge, '/state', { target: 'project:demo' })
  t.like(project.body.state, { owner: 'admin', members: {} })
  const user = await ask<AuditState>(forge, '/state', { target: 'user:admin' })
  t.like(user.body.state, { role: 'admin' })
})

test('a whole second as shown in a row includes the row', async t => {
  const forge = await startForge(t, roles)
  await forge.call('POST', '/api/runs', { body: { project: 'demo' } })
  const { body } = await ask<AuditRow[]>(forge, '', { target: 'project:demo' })
  const at = String(body[0]?.at)
  const shown = await ask<AuditState>(forge, '/state', { target: 'project:demo', at })
  t.like(shown.body, { at, version: 1 })
})

test('unknown targets are 404, malformed queries 422', async t => {
  const forge = await startForge(t, roles)
  const at = new Date().toISOString()
  const status = async (path: string, query: Record<string, string>) =>
    (await ask(forge, path, query)).status
  t.is(await status('/state', { target: 'job:run_none', at }), 404)
  t.is(await status('/diff', { target: 'nothing:x', from: at, to: at }), 404)
  t.is(await status('/state', { target: 'user:admin', at: '2026-11-20T19:26:53' }), 422)
  t.is(await status('/state', { at }), 422)
  t.is(await status('/diff', { target: 'user:admin', from: at }), 422)
  const later = new Date(Date.parse(at) + 1000).toISOString()
  t.is(await status('/diff', { target: 'user:admin', from: later, to: at }), 422)
})

test('events recorded in an older version are read in the current one', t => {
  const definition = event(
    'thing.done',
    Type.Object({}),
    () => 'done',
    data => ({ ...data, from_1: true }),
    data => ({ ...data, from_2: true }),
  )
  const stored = { type: 'thing.done', schema_version: 1, data: { a: 1 } }
  t.deepEqual(current(stored, new Map([[definition.type, definition]])).data, {
    a: 1,
    from_1: true,
    from_2: true,
  })
  t.deepEqual(current(stored, new Map()).data, { a: 1 })
})

test('differences are reported at the deepest path', t => {
  const paths = (from: unknown, to: unknown) => differences(from, to)
  t.deepEqual(paths({ a: { b: [1, 2] } }, { a: { b: [1, 3] } }), [
    { path: '/a/b/1', from: 2, to: 3 },
  ])
  t.deepEqual(paths({ 'x/y~z': 1 }, {}), [{ path: '/x~1y~0z', from: 1, to: null }])
  t.deepEqual(paths(null, { a: 1, b: { c: 2 } }), [
    { path: '/a', from: null, to: 1 },
    { path: '/b/c', from: null, to: 2 },
  ])
  t.deepEqual(paths({ a: [] }, { a: null }), [{ path: '/a', from: [], to: null }])
  t.deepEqual(paths({ a: [1] }, { a: { 0: 1 } }), [{ path: '/a', from: [1], to: { 0: 1 } }])
  t.deepEqual(paths({ a: 1, b: [null] }, { b: [null], a: 1 }), [])
})
