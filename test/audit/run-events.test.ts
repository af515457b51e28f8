import test from 'ava'
import { toRunEvent } from '../../query-api/audit/run-events.ts'
import type { RunEvent } from '../../schemas/runs/events.ts'
import { startForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'

test('readers of a run can read its events, in pages, oldest first', async t => {
  const forge = await startForge(t)
  const [run, other] = [await createRun(forge, 'mine'), await createRun(forge, 'other')]
  await ingest(forge, other, 'lifecycle', { event: 'running' })
  await ingest(forge, run, 'lifecycle', { event: 'running' })
  await ingest(forge, run, 'hparams', { params: { lr: 0.1, token: 'a secret' } })
  await ingest(forge, run, 'artifact', {
    kind: 'checkpoint',
    path: 's3://b/1.pt',
    format: 'torch',
    step: 1,
  })
  await ingest(forge, run, 'validation', {
    step: 1,
    chunk_index: 0,
    total_chunks: 1,
    samples: [{ user: 'u', assistant: 'a', reward: 1 }],
  })
  const [member, stranger] = [await signedIn(forge, 'mia'), await signedIn(forge, 'eve')]
  await forge.call('PUT', '/api/projects/mine/members/mia', { body: { role: 'viewer' } })
  const path = `/api/runs/${run.run_id}/events`
  const types = [
    'run.created',
    'run.started',
    'hparams.set',
    'artifact.registered',
    'validation.round_completed',
  ]
  const all = await until('all events are listed', 30_000, async () => {
    const reply = await forge.call<RunEvent[]>('GET', path, { token: member })
    return reply.body.length === types.length ? reply : null
  })
  t.deepEqual(
    all.body.map(({ type }) => type),
    types,
  )
  t.is(all.headers.get('x-total-count'), String(types.length))
  const [created, started, params, registered] = all.body
  t.like(created, {
    actor: { type: 'user', id: 'admin' },
    summary: `admin created the run ${run.short_id} in project mine`,
  })
  t.like(created?.facts, { project: 'mine', owner: 'admin' })
  t.deepEqual(started?.actor, { type: 'run', id: run.run_id })
  t.regex(String(started?.at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/)
  t.like(registered?.facts, { path: 's3://b/1.pt', step: 1 })
  // Only small values: parameters have their own route.
  t.deepEqual(params?.facts, { changed: [] })
  t.false(JSON.stringify(all.body).includes('a secret'))

  const page = await forge.call<RunEvent[]>('GET', `${path}?limit=2&offset=1`, { token: member })
  t.deepEqual(
    page.body.map(({ type }) => type),
    types.slice(1, 3),
  )
  t.regex(page.headers.get('link') ?? '', /rel="next".*rel="prev"/)
  const hidden = await forge.call<{ detail: string }>('GET', path, { token: stranger })
  t.is(hidden.status, 404)
  t.is(hidden.body.detail, `No such run: ${run.run_id}`)
})

test('long texts and large values of an event are left out', t => {
  const event = toRunEvent({
    position: 7,
    event_id: '0',
    type: 'job.admitted',
    target: { type: 'job', id: 'r' },
    actor: { type: 'user', id: 'ada', via: 'password' },
    at: '2026-11-20T12:00:00+00:00',
    occurred_at: '2026-11-20T12:00:00.000+00:00',
    request_id: 'q',
    causation_id: null,
    version: 1,
    summary: 'x'.repeat(5_000),
    data: {
      run_id: 'r',
      name: 'first',
      tags: ['a'],
      notes: 'n'.repeat(201),
      spec: { env: { KEY: 'k' } },
      gates: [{ gate: 'quota' }],
    },
  })
  t.deepEqual(event, {
    position: 7,
    type: 'job.admitted',
    at: '2026-11-20T12:00:00.000+00:00',
    actor: { type: 'user', id: 'ada' },
    summary: `${'x'.repeat(1_000)}…`,
    facts: { name: 'first', tags: ['a'] },
  })
})
