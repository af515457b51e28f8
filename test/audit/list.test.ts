import test from 'ava'
import { type StoredEvent, toRow } from '../../query-api/audit/events.ts'
import type { AuditRow } from '../../schemas/audit.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'

const roles = { SERVICE_ROLES: 'command-api,relay,projector,query-api' }

const list = (forge: Forge, query: string) => forge.call<AuditRow[]>('GET', `/api/audit?${query}`)

const rubric = (name: string) => ({ name, criteria: [{ name: 'tone' }], visibility: 'public' })

test('an event is listed with actor, credential, target and a sentence', async t => {
  const forge = await startForge(t, roles)
  const alice = await signedIn(forge, 'alice')
  await forge.call('PUT', '/api/rubrics/alice/helpful', {
    token: alice,
    body: rubric('helpful'),
    headers: { 'x-request-id': 'request-of-alice' },
  })
  const { body } = await list(forge, 'target=rubric:alice/helpful')
  t.is(body.length, 1)
  const [row] = body
  t.like(row, {
    type: 'rubric.updated',
    target: { type: 'rubric', id: 'alice/helpful' },
    actor: { type: 'user', id: 'alice', via: 'password' },
    request_id: 'request-of-alice',
    causation_id: null,
    version: 1,
    summary: 'alice wrote version 1 of the public rubric alice/helpful',
  })
  t.like(row?.data, { owner: 'alice', name: 'helpful', version: 1 })
  t.regex(String(row?.at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/)
  t.is(String(row?.occurred_at).slice(0, 19), String(row?.at).slice(0, 19))
})

test('each filter finds exactly its matches, and filters combine', async t => {
  const forge = await startForge(t, roles)
  const alice = await signedIn(forge, 'alice')
  const run = await createRun(forge)
  await ingest(forge, run, 'lifecycle', { event: 'running' })
  for (const name of ['a', 'b'])
    await forge.call('PUT', `/api/rubrics/alice/${name}`, { token: alice, body: rubric(name) })
  await forge.call('POST', '/api/admin/quotas', {
    body: { username: 'alice', max_concurrent_gpus: 1 },
    headers: { 'x-request-id': 'quota-request' },
  })
  const types = async (query: string) => (await list(forge, query)).body.map(row => row.type)
  t.deepEqual(await types('actor=alice'), ['rubric.updated', 'rubric.updated', 'user.login'])
  t.deepEqual(await types('actor=user:alice&type=rubric.*'), ['rubric.updated', 'rubric.updated'])
  t.deepEqual(await types('actor=system:alice'), [])
  t.deepEqual(await types(`actor=run:${run.run_id}`), ['run.started'])
  t.deepEqual(await types('type=run.*'), ['run.started', 'run.created'])
  t.deepEqual(await types('type=run.created'), ['run.created'])
  t.deepEqual(await types(`target=run:${run.run_id}`), ['run.started', 'run.created'])
  t.deepEqual(await types('target=quota:alice'), ['quota.set'])
  t.deepEqual(await types('target=user:alice'), ['user.login', 'user.created'])
  t.deepEqual(await types('target=project:demo'), ['project.created'])
  // Later consequences of the request are found, too.
  const caused = await until('alice is notified', 30_000, async () => {
    const found = await types('request_id=quota-request')
    return found.length > 1 && found
  })
  t.deepEqual(caused, ['notification.sent', 'quota.set'])
  t.deepEqual(await types('target=job:none'), [])
  const everything = async () => (await list(forge, 'limit=500')).body
  // The server's own events must not arrive between the reads.
  const { all, middle, after, before } = await until('nothing arrives', 30_000, async () => {
    const all = await everything()
    const middle = all[Math.floor(all.length / 2)]
    const at = encodeURIComponent(String(middle?.occurred_at))
    const [after, before] = [await list(forge, `since=${at}`), await list(forge, `until=${at}`)]
    return (await everything()).length === all.length && { all, middle, after, before }
  })
  t.true(after.body.length > 0 && before.body.length > 0)
  t.is(after.body.length + before.body.length, all.length)
  t.true(after.body.every(row => row.occurred_at >= String(middle?.occurred_at)))
  t.true(before.body.every(row => row.occurred_at < String(middle?.occurred_at)))
  const at = encodeURIComponent(String(middle?.occurred_at))
  const between = `since=${at}&until=${at}`
  t.deepEqual(await types(between), [])
})

test('the list is newest first, paged without overlap, and counted', async t => {
  const forge = await startForge(t, roles)
  for (const name of ['a', 'b', 'c', 'd', 'e'])
    await forge.call('PUT', `/api/rubrics/admin/${name}`, { body: rubric(name) })
  const seen: AuditRow[] = []
  for (let offset = 0; offset < 5; offset += 2) {
    const { body, headers } = await list(forge, `type=rubric.*&limit=2&offset=${offset}`)
    seen.push(...body)
    t.is(headers.get('x-total-count'), '5')
    t.is(headers.get('link')?.includes('rel="next"') ?? false, offset < 3)
    t.is(headers.get('link')?.includes('rel="prev"') ?? false, offset > 0)
  }
  t.deepEqual(
    seen.map(row => row.target.id),
    ['e', 'd', 'c', 'b', 'a'].map(name => `admin/${name}`),
  )
})

test('an event made illegible does not prevent reading the others', t => {
  const stored: StoredEvent = {
    position: 1,
    event_id: '0198a1b2-0000-7000-8000-000000000000',
    stream: 'user-bob',
    stream_version: 1,
    type: 'user.created',
    schema_version: 1,
    data: { username: 'bob', role: 'admin', auth: 'oidc' },
    meta: {
      actor: { type: 'user', id: 'ada', via: 'password' },
      request_id: 'r',
      causation_id: null,
    },
    occurred_at: new Date(),
  }
  const summary = (changed: Partial<StoredEvent>) => toRow({ ...stored, ...changed }).summary
  t.is(summary({}), 'ada created the admin bob, who signs in via oidc')
  t.is(summary({ type: 'thing.unknown' }), 'ada caused thing.unknown')
  t.is(
    summary({ type: 'image_registries.set', data: {} }),
    'Somebody caused image_registries.set, which was changed after it was recorded',
  )
  const newer = toRow({ ...stored, schema_version: 2 })
  t.is(newer.summary, 'Somebody caused user.created, which was changed after it was recorded')
  t.deepEqual(newer.data, stored.data)
})

test('only administrators may read it, and malformed filters are named', async t => {
  const forge = await startForge(t, roles)
  const alice = await signedIn(forge, 'alice')
  const at = new Date().toISOString()
  for (const path of [
    '/api/audit',
    '/api/audit/state?target=user:alice',
    `/api/audit/diff?target=user:alice&from=${at}&to=${at}`,
    '/api/audit/verify',
  ]) {
    t.is((await forge.call('GET', path, { token: alice })).status, 403, path)
    t.is((await forge.call('GET', path, { token: null })).status, 401, path)
    t.is((await forge.call('GET', path)).status, 200, path)
  }
  t.is((await forge.call('GET', '/api/audit/verify?head=abc')).status, 422)
  for (const query of [
    'limit=0',
    'limit=501',
    'offset=-1',
    'huh=1',
    'type=job',
    'type=*',
    'target=job',
    'since=2026-11-20T19:26:53',
    'until=yesterday',
  ])
    t.is((await list(forge, query)).status, 422, query)
})
