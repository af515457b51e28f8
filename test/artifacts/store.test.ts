import { randomBytes } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { Alert } from '../../schemas/alerts.ts'
import type { Artifact } from '../../schemas/artifacts/artifacts.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { createRun } from '../servers/runs.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'
import { digestOf, storing, untilIs } from './storing.ts'

/** Whether the alert about the artifact is open. */
async function missingIs(forge: Forge, { run_id }: { run_id: string }, artifact_id: string) {
  const { body } = await forge.call<Alert[]>('GET', `/api/runs/${run_id}/alerts?state=open`)
  return body.some(({ rule, key }) => rule === 'artifact_missing' && key === artifact_id)
}

const bytes = randomBytes(100_000)
const sha256 = digestOf(bytes)
const size_bytes = bytes.length

test('an artifact is announced, sent, registered and verified, and read back by readers of its run', async t => {
  const forge = await startForge(t, {
    SERVICE_ROLES: 'command-api,relay,projector,query-api',
    SERVICE_MAX_UPLOAD_MB: '1',
    SERVICE_RUN_ARTIFACTS_GB: '1',
  })
  const run = await createRun(forge)
  const { ask, register, store } = storing(forge, run)
  const artifact = await store(bytes, 'model 1.safetensors', 150)
  t.like(artifact, { run_id: run.run_id, sha256, size_bytes, step: 150, file_count: 1 })
  t.regex(artifact.path, new RegExp(`^forge://${run.run_id}/upl_\\w+/model%201\\.safetensors$`))

  const again = await ask({ filename: 'model 1.safetensors', size_bytes, step: 150, sha256 })
  t.like(again.body, { exists: true, path: artifact.path, received_bytes: size_bytes })
  const { upload_id, path } = again.body
  const repeated = await register({ path, upload_id, step: 150 })
  t.like(repeated.body, { artifact_id: artifact.artifact_id, created: false })
  t.is((await untilIs(forge, artifact.artifact_id, 'verified')).artifact_id, artifact.artifact_id)

  await refusals(t, forge, run, { path, upload_id })
  await reading(t, forge, artifact)
  await signedReading(t, forge, artifact)

  const [file, changed] = [sha256, digestOf(Buffer.from('other'))].map(digest =>
    join(forge.dataDir, 'uploads', 'sha256', digest),
  )
  const second = await store(Buffer.from('other'), 'other.bin', 151)
  await rm(file ?? '')
  await writeFile(changed ?? '', 'xther')
  t.is((await forge.call('GET', contentOf(artifact))).status, 502, 'its file is gone')
  for (const { artifact_id, path: at, step } of [artifact, second]) {
    const upload = at.split('/')[3]
    await register({ path: at, upload_id: upload, step, metrics: { loss: 1 } })
    await untilIs(forge, artifact_id, 'missing')
    await until('its owner is notified', 20_000, () => missingIs(forge, run, artifact_id))
  }
  t.is(
    (await store(bytes, 'model 1.safetensors', 152)).status,
    'verified',
    'the lost file is sent again',
  )
  const listed = await forge.call<Artifact[]>('GET', `/api/runs/${run.run_id}/artifacts`)
  t.deepEqual(
    listed.body.map(({ status, is_latest }) => [status, is_latest]),
    [
      ['verified', true],
      ['missing', false],
      ['missing', false],
      ['registered', false],
    ],
    'a missing checkpoint is not the newest',
  )
})

const contentOf = ({ artifact_id }: Artifact) => `/api/artifacts/${artifact_id}/content`

/** The refusals of announcing and registering. */
async function refusals(
  t: ExecutionContext,
  forge: Forge,
  run: Awaited<ReturnType<typeof createRun>>,
  { path, upload_id }: { path: string; upload_id: string },
): Promise<void> {
  const { ask, register } = storing(forge, run)
  const big = await ask({ filename: 'a', size_bytes: 1024 * 1024 + 1 })
  t.like(big, { status: 413, body: { code: 'upload.too_large' } })
  for (const bad of [{ filename: '' }, { filename: 'a/b' }, { size_bytes: 0 }, { kind: 'model' }]) {
    const { status } = await ask({ filename: 'a', size_bytes: 1, ...bad })
    t.is(status, 422, JSON.stringify(bad))
  }
  const other = storing(forge, await createRun(forge))
  t.is((await other.ask({ run_id: run.run_id, filename: 'a', size_bytes: 1 })).status, 403)
  const refused = async (body: object, code: string) =>
    t.like(await register(body), { status: 400, body: { code } })
  t.like(await other.register({ path, upload_id }), {
    status: 400,
    body: { code: 'artifact.no_upload' },
  })
  await refused({ path }, 'artifact.no_upload')
  await refused({ path, upload_id: 'upl_none' }, 'artifact.no_upload')
  await refused({ path: 's3://b/k', upload_id }, 'artifact.other_upload')
  await refused({ path, upload_id, sha256: '0'.repeat(64) }, 'artifact.other_upload')
  const early = (await ask({ filename: 'late', size_bytes: 3 })).body
  t.is((await register({ path: early.path, upload_id: early.upload_id })).status, 409)
  const elsewhere = (await register({ path: 's3://bucket/key', step: 1 })).body.artifact_id
  const found = await untilIs(forge, elsewhere, 'registered')
  const { status, body } = await forge.call('GET', `${contentOf(found)}`)
  t.is(status, 409)
  t.like(body, { code: 'artifact.not_stored', data: { path: 's3://bucket/key' } })
}

async function reading(t: ExecutionContext, forge: Forge, artifact: Artifact): Promise<void> {
  const get = (headers: Record<string, string> = {}, method = 'GET') =>
    fetch(`${forge.url}${contentOf(artifact)}`, {
      method,
      headers: { authorization: `Bearer ${forge.token}`, ...headers },
    })
  const whole = await get()
  t.is(whole.status, 200)
  t.true(Buffer.from(await whole.arrayBuffer()).equals(bytes))
  t.deepEqual(
    ['content-type', 'content-length', 'etag', 'accept-ranges', 'x-content-type-options'].map(
      name => whole.headers.get(name),
    ),
    ['application/octet-stream', String(size_bytes), `"${sha256}"`, 'bytes', 'nosniff'],
  )
  t.is(
    whole.headers.get('content-disposition'),
    `attachment; filename="model 1.safetensors"; filename*=UTF-8''model%201.safetensors`,
  )
  t.regex(
    String(whole.headers.get('content-security-policy')),
    /sandbox; default-src 'none';.* frame-ancestors 'none'/,
  )
  const head = await get({}, 'HEAD')
  t.is(head.headers.get('content-length'), String(size_bytes))
  t.is((await get({ 'if-none-match': `"${sha256}"` })).status, 304)
  const part = await get({ range: 'bytes=10-19' })
  t.is(part.status, 206)
  t.is(part.headers.get('content-range'), `bytes 10-19/${size_bytes}`)
  t.true(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(10, 20)))
  const rest = await get({ range: `bytes=${size_bytes - 5}-`, 'if-range': `"${sha256}"` })
  t.true(Buffer.from(await rest.arrayBuffer()).equals(bytes.subarray(-5)))
  const changed = await get({ range: 'bytes=5-', 'if-range': '"other"' })
  t.is(changed.status, 200, 'the file is another one: all of it')
  await changed.body?.cancel()
  const beyond = await get({ range: `bytes=${size_bytes}-` })
  t.is(beyond.status, 416)
  t.is(beyond.headers.get('content-range'), `bytes */${size_bytes}`)
  const stranger = await signedIn(forge, 'bob')
  const { artifact_id } = artifact
  for (const more of ['', '/content', '/download-url']) {
    const path = `/api/artifacts/${artifact_id}${more}`
    t.is((await forge.call('GET', path, { token: stranger })).status, 404, more)
  }
}

/** An address is enough, but only for its own artifact. */
async function signedReading(t: ExecutionContext, forge: Forge, artifact: Artifact): Promise<void> {
  const { artifact_id } = artifact
  const { body } = await forge.call<{ url: string; filename: string }>(
    'GET',
    `/api/artifacts/${artifact_id}/download-url`,
  )
  t.like(body, { filename: 'model 1.safetensors', sha256, size_bytes })
  const part = await fetch(body.url, { headers: { range: 'bytes=-3' } })
  t.is(part.status, 206)
  t.true(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(-3)))
  for (const [name, value] of [
    ['exp', '99999999999'],
    ['sha256', '0'.repeat(64)],
    ['filename', 'run.exe'],
    ['sig', 'AAAA'],
  ] as const) {
    const url = new URL(body.url)
    url.searchParams.set(name, value)
    t.is((await fetch(url)).status, 403, name)
  }
  const url = body.url.replace(artifact_id, `${artifact_id.slice(0, -1)}_`)
  t.is((await fetch(url)).status, 403)
}
