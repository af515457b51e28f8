import { isDeepStrictEqual } from 'node:util'
import test from 'ava'
import { issueIngestToken } from '../../command-api/rules/ingest-tokens.ts'
import { mergeTags } from '../../command-api/rules/merge-tags.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import type { RunChange } from '../../schemas/runs/runs.ts'
import { type Forge, sharedForge } from '../servers/forge.ts'
import { createRun, type ExternalRun, ingest } from '../servers/runs.ts'
import { forgeWithSpare } from '../servers/spare.ts'
import { until } from '../servers/until.ts'

const shared = sharedForge({ SERVICE_ROLES: 'command-api,relay,projector,query-api' })

type Described = { name: string | null; tags: string[]; notes: string }
type Begun = { run: { info: { run_id: string; run_name: string } } }

/** Reports of running code are read a moment later. */
const shows = (forge: Forge, { run_id }: ExternalRun, wanted: Partial<Described>) =>
  until(`the run has ${JSON.stringify(wanted)}`, 20_000, async () => {
    const { body } = await forge.call<Described>('GET', `/api/runs/${run_id}`)
    const has = ([key, value]: [string, unknown]) =>
      isDeepStrictEqual(body[key as keyof Described], value)
    return Object.entries(wanted).every(has) && body
  })

test('tags are added once each, up to the limit', t => {
  const merged = mergeTags({ name: 'n', add_tags: ['b', 'c'] }, ['a', 'b'])
  t.deepEqual(merged, { name: 'n', tags: ['a', 'b', 'c'] })
  t.deepEqual(mergeTags({ tags: ['x'], add_tags: ['b'] }, ['a']), { tags: ['x', 'b'] })
  t.deepEqual(mergeTags({ tags: [] }, ['a']), { tags: [] })
  t.deepEqual(mergeTags<RunChange>({ name: 'n' }, ['a']), { name: 'n' })
  const many = Array.from({ length: 64 }, (_, nth) => `t${nth}`)
  t.deepEqual(mergeTags({ add_tags: many }, ['a']), { tags: ['a', ...many.slice(0, 63)] })
})

test('running code renames, tags and annotates its own run', async t => {
  const forge = await shared()
  const run = await createRun(forge, 'described')
  await forge.call('PATCH', `/api/runs/${run.run_id}`, { body: { tags: ['mine'] } })
  t.deepEqual(await ingest(forge, run, 'description', { name: 'best', add_tags: ['lr', 'mine'] }), {
    ...{ ok: true, name: 'best', tags: ['mine', 'lr'], notes: '' },
  })
  await ingest(forge, run, 'description', { notes: 'why' })
  await shows(forge, run, { name: 'best', tags: ['mine', 'lr'], notes: 'why' })
  await ingest(forge, run, 'description', { tags: ['only'] })
  await shows(forge, run, { name: 'best', tags: ['only'], notes: 'why' })
  const other = await createRun(forge, 'described')
  const body = { run_id: other.run_id, name: 'theirs' }
  const refused = await forge.call('POST', '/api/ingest/description', { token: run.token, body })
  t.is(refused.status, 403)
})

test("MLflow's name and description of a run become its own, as do later ones of people", async t => {
  const forge = await shared()
  const run = await createRun(forge, 'tracked')
  const { run_id, token } = run
  const mlflow = (call: string, body: object) =>
    forge.call('POST', `/api/ingest/mlflow/api/2.0/mlflow/runs/${call}`, {
      token,
      body: { run_id, ...body },
    })
  const tag = (key: string, value: string) => mlflow('set-tag', { key, value })
  t.is((await tag('mlflow.runName', 'from MLflow')).status, 200)
  await tag('mlflow.note.content', 'noted there')
  await shows(forge, run, { name: 'from MLflow', notes: 'noted there' })
  const patch = (body: object) => forge.call('PATCH', `/api/runs/${run_id}`, { body })
  await patch({ notes: '' })
  await shows(forge, run, { notes: '' })
  await mlflow('update', { run_name: 'updated' })
  await shows(forge, run, { name: 'updated' })
  for (const name of ['', ' ', 'a\nb', 'n'.repeat(300)])
    t.is((await tag('mlflow.runName', name)).status, 200, 'MLflow accepts it, and the name stays')
  await shows(forge, run, { name: 'updated' })
  await patch({ notes: 'after them' })
  await shows(forge, run, { name: 'updated', notes: 'after them' })
  await patch({ name: 'mine' })
  await shows(forge, run, { name: 'mine' })
})

/** The events of a run; those of one write share a transaction. */
const eventsOf = async (forge: Forge, run_id: string) =>
  (
    await forge.pool.query<{ type: string; data: Partial<Described>; xid: string }>(
      `select type, data, xid::text from write.event where stream = $1 order by position`,
      [`run-${run_id}`],
    )
  ).rows

test('MLflow names and describes a run in one write, without spaces around the name', async t => {
  const forge = await shared()
  const tags = [{ key: 'mlflow.note.content', value: 'why' }]
  const begin = { experiment_id: 'begun', run_name: ' first ', tags }
  const path = '/api/2.0/mlflow/runs/create'
  const { body } = await forge.call<Begun>('POST', path, { body: begin })
  t.is(body.run.info.run_name, 'first')
  const [created, ...later] = await eventsOf(forge, body.run.info.run_id)
  t.like(created?.data, { name: 'first', notes: 'why' })
  t.deepEqual(
    later.map(({ type }) => type),
    ['run.started'],
  )
  const run = await createRun(forge, 'continued')
  const again = { experiment_id: '0', run_name: ' second ', tags }
  const { token } = run
  await forge.call('POST', `/api/ingest/mlflow${path}`, { token, body: again })
  await shows(forge, run, { name: 'second', notes: 'why' })
  const described = (await eventsOf(forge, run.run_id)).filter(({ type }) =>
    ['run.renamed', 'run.noted'].includes(type),
  )
  t.is(described.length, 2)
  t.is(new Set(described.map(({ xid }) => xid)).size, 1)
  const unnamed = { experiment_id: 'begun', run_name: '  ' }
  const { body: third } = await forge.call<Begun>('POST', path, { body: unnamed })
  const [first] = await eventsOf(forge, third.run.info.run_id)
  t.is(first?.data.name, null)
})

test('a job is described by its code as well', async t => {
  const forge = await forgeWithSpare(t)
  const { body: lock } = await forge.call('GET', '/api/recipes/digits/1.0.0/lock')
  const spec = { resources: { profile: 'spare' } }
  const metadata = { name: 'given', project: 'demo', tags: ['given'] }
  const { body } = await forge.call<{ run_id: string }>('POST', '/api/jobs', {
    body: { api: 'forge/v2', metadata, lock, spec },
  })
  const { run_id } = body
  const { token } = await inTransaction(forge.pool, tx =>
    issueIngestToken(tx, { run_id, now: new Date() }),
  )
  const run = { run_id, short_id: '', token }
  const reply = await ingest(forge, run, 'description', {
    ...{ name: 'by its code', add_tags: ['more'] },
  })
  t.like(reply, { name: 'by its code', tags: ['given', 'more'] })
  await shows(forge, run, { name: 'by its code', tags: ['given', 'more'] })
})
