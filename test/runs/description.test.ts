import { isDeepStrictEqual } from 'node:util'
import test from 'ava'
import { issueIngestToken } from '../../command-api/rules/ingest-tokens.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { withTags } from '../../schemas/runs/runs.ts'
import { type Forge, sharedForge } from '../servers/forge.ts'
import { createRun, type ExternalRun, ingest } from '../servers/runs.ts'
import { forgeWithSpare } from '../servers/spare.ts'
import { until } from '../servers/until.ts'

const shared = sharedForge({ SERVICE_ROLES: 'command-api,relay,projector,query-api' })

type Described = { name: string | null; tags: string[]; notes: string }

/** Reports of running code are read a moment later. */
const shows = (forge: Forge, { run_id }: ExternalRun, wanted: Partial<Described>) =>
  until(`the run has ${JSON.stringify(wanted)}`, 20_000, async () => {
    const { body } = await forge.call<Described>('GET', `/api/runs/${run_id}`)
    const has = ([key, value]: [string, unknown]) =>
      isDeepStrictEqual(body[key as keyof Described], value)
    return Object.entries(wanted).every(has) && body
  })

test('tags are added once each, up to the limit', t => {
  t.deepEqual(withTags(['a', 'b'], ['b', 'c']), ['a', 'b', 'c'])
  const many = Array.from({ length: 70 }, (_, nth) => `t${nth}`)
  t.is(withTags(['a'], many).length, 64)
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
