import { randomBytes } from 'node:crypto'
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import type { Alert } from '../../schemas/alerts.ts'
import type { Artifact, ArtifactDeleted } from '../../schemas/artifacts/artifacts.ts'
import { type Forge, sharedForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { createRun } from '../servers/runs.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'
import { digestOf, storing, untilIs } from './storing.ts'

const shared = sharedForge({ SERVICE_ROLES: 'command-api,relay,projector,query-api' })

type Answer = ArtifactDeleted & { code: string; detail: string; data: Record<string, unknown> }
const remove = (forge: Forge, artifact_id: string, query = '', token = forge.token) =>
  forge.call<Answer>('DELETE', `/api/artifacts/${artifact_id}${query}`, { token })
const list = async (forge: Forge, run_id: string, query = '') =>
  (await forge.call<Artifact[]>('GET', `/api/runs/${run_id}/artifacts${query}`)).body
const isThere = (forge: Forge, bytes: Buffer) =>
  stat(join(forge.dataDir, 'uploads', 'sha256', digestOf(bytes))).then(
    () => true,
    () => false,
  )

test('a deleted artifact is gone from the store and from lists, and its content says when and by whom', async t => {
  const forge = await shared()
  const run = await createRun(forge, 'deleting')
  const { store, register } = storing(forge, run)
  const [old, bytes] = [randomBytes(3000), randomBytes(5000)]
  const older = await store(old, 'model-1', 1)
  const artifact = await store(bytes, 'model-2', 2)
  const { artifact_id, path } = artifact
  const { body: address } = await forge.call<{ url: string }>(
    'GET',
    `/api/artifacts/${artifact_id}/download-url`,
  )

  const dry = await remove(forge, artifact_id, '?dry_run=true')
  t.like(dry.body, { dry_run: true, status: 'deleting', bytes: 'removed', freed_bytes: 5000 })
  t.is((await forge.call('GET', `/api/artifacts/${artifact_id}/content`)).status, 200)
  const done = await remove(forge, artifact_id)
  t.is(done.status, 200, JSON.stringify(done.body))
  t.like(done.body, { dry_run: false, already: false, freed_bytes: 5000 })
  t.is(dry.body.bytes, done.body.bytes)
  const deleted = await untilIs(forge, artifact_id, 'deleted')
  t.like(deleted, { deleted_by: 'admin', is_latest: false, init_from: null })
  t.false(await isThere(forge, bytes))
  t.true(await isThere(forge, old))

  const content = await forge.call('GET', `/api/artifacts/${artifact_id}/content`)
  t.is(content.status, 410)
  t.like(content.body, { code: 'artifact.deleted', data: { deleted_by: 'admin' } })
  t.regex(String(content.body.detail), /was deleted at 2\d{3}-.* by admin/)
  t.is((await forge.call('GET', `/api/artifacts/${artifact_id}/download-url`)).status, 410)
  t.is((await fetch(address.url)).status, 410)
  t.like(await list(forge, run.run_id), [{ artifact_id: older.artifact_id, is_latest: true }])
  t.is((await list(forge, run.run_id)).length, 1)
  t.like(await list(forge, run.run_id, '?status=deleted'), [{ artifact_id }])
  t.is((await list(forge, run.run_id, '?status=all')).length, 2)

  t.like((await remove(forge, artifact_id)).body, { already: true, status: 'deleted', bytes: null })
  t.like((await remove(forge, artifact_id, '?dry_run=true')).body, { already: true })
  const again = await register({ path, upload_id: path.split('/')[3], step: 2 })
  t.is(again.status, 400, 'the name never gets other bytes')
  const fresh = await store(bytes, 'model-2', 2)
  t.not(fresh.artifact_id, artifact_id, 'a file sent again is another artifact')
  t.true(await isThere(forge, bytes))
})

test('bytes stay as long as another artifact uses them', async t => {
  const forge = await shared()
  const run = await createRun(forge, 'sharing')
  const { store, register } = storing(forge, run)
  const bytes = randomBytes(4000)
  const first = await store(bytes, 'model', 1)
  const { body } = await register({
    path: first.path,
    upload_id: first.path.split('/')[3],
    step: 2,
  })
  await untilIs(forge, body.artifact_id, 'verified')
  const elsewhere = await storing(forge, await createRun(forge, 'sharing')).store(bytes, 'copy', 1)

  const one = await remove(forge, first.artifact_id)
  t.like(one.body, { status: 'deleting', bytes: 'shared', freed_bytes: 0 })
  await untilIs(forge, first.artifact_id, 'deleted')
  const two = await remove(forge, body.artifact_id)
  t.like(two.body, { bytes: 'shared' }, 'another run has sent the same')
  await untilIs(forge, body.artifact_id, 'deleted')
  t.true(await isThere(forge, bytes))
  t.is((await forge.call('GET', `/api/artifacts/${elsewhere.artifact_id}/content`)).status, 200)
  t.like((await remove(forge, elsewhere.artifact_id)).body, { bytes: 'removed', freed_bytes: 4000 })
  await untilIs(forge, elsewhere.artifact_id, 'deleted')
  t.false(await isThere(forge, bytes))
})

test('for an artifact stored elsewhere only the record is marked, and the response says so; writing it again restores it', async t => {
  const forge = await shared()
  const { register } = storing(forge, await createRun(forge, 'elsewhere'))
  const at = { path: 's3://bucket/key', step: 1 }
  const { artifact_id } = (await register(at)).body
  const { body } = await remove(forge, artifact_id)
  t.like(body, { status: 'deleted', bytes: 'left', freed_bytes: 0 })
  t.regex(body.detail, /its bytes lie at s3:\/\/bucket\/key/)
  await untilIs(forge, artifact_id, 'deleted')
  t.is((await register(at)).body.artifact_id, artifact_id)
  t.like(await untilIs(forge, artifact_id, 'registered'), { deleted_at: null, deleted_by: null })
})

test('only people who may control a run may delete its artifacts; to strangers they look missing', async t => {
  const forge = await shared()
  const run = await createRun(forge, 'fenced')
  const { artifact_id } = (await storing(forge, run).register({ path: 's3://b/k', step: 1 })).body
  const token = await signedIn(forge, 'mallory')
  const visible = (visibility: string) =>
    forge.call('PATCH', '/api/projects/fenced', { body: { visibility } })
  await visible('private')
  const hidden = await remove(forge, artifact_id, '', token)
  const unknown = await remove(forge, 'art_none', '', token)
  t.is(hidden.status, 404)
  t.is(hidden.body.detail.replace(artifact_id, 'art_none'), unknown.body.detail)
  await visible('internal')
  t.is((await remove(forge, artifact_id, '', token)).status, 403)
  t.is((await remove(forge, artifact_id, '?dry_run=true', token)).status, 403)
  t.is((await remove(forge, artifact_id)).status, 200)
})

test('a lost artifact that is then deleted no longer alarms its owner', async t => {
  t.timeout(patient(60_000))
  const forge = await shared()
  const run = await createRun(forge, 'losing')
  const { store, register } = storing(forge, run)
  const { artifact_id, path, sha256 } = await store(randomBytes(2000), 'model', 1)
  await rm(join(forge.dataDir, 'uploads', 'sha256', String(sha256)))
  await register({ path, upload_id: path.split('/')[3], step: 1, metrics: { loss: 1 } })
  const alerts = async (state: string) => {
    const { body } = await forge.call<Alert[]>(
      'GET',
      `/api/runs/${run.run_id}/alerts?state=${state}`,
    )
    return body.some(({ rule, key }) => rule === 'artifact_missing' && key === artifact_id)
  }
  await until('its owner is notified', 20_000, () => alerts('open'))
  t.like((await remove(forge, artifact_id)).body, { status: 'deleting' })
  await untilIs(forge, artifact_id, 'deleted')
  await until('the alert is over', 20_000, async () => !(await alerts('open')))
})
