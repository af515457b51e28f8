import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { createRun } from '../servers/runs.ts'
import { newBucket, ownS3 } from '../servers/s3-bucket.ts'
import { digestOf, storing, untilIs } from './storing.ts'

// needs s3
test('artifacts in a bucket are sent, verified and read like those in a folder, even around an outage', async t => {
  t.timeout(patient(150_000))
  const s3 = await ownS3(t)
  const { endpoint, bucket, keyId, secret } = await newBucket(s3.address)
  const forge = await startForge(t, {
    SERVICE_ROLES: 'command-api,relay,projector,query-api',
    SERVICE_S3_ENDPOINT: endpoint ?? '',
    SERVICE_S3_BUCKET: bucket,
    SERVICE_S3_KEY_ID: keyId,
    SERVICE_S3_SECRET: secret,
  })
  const { ask, register, store } = storing(forge, await createRun(forge))
  const bytes = randomBytes(100_000)
  const artifact = await store(bytes, 'naïve "model".bin', 1)
  t.deepEqual(await readdir(join(forge.dataDir, 'uploads', 'sha256')), [], 'it is in the bucket')
  const content = (headers: Record<string, string> = {}) =>
    fetch(`${forge.url}/api/artifacts/${artifact.artifact_id}/content`, {
      headers: { authorization: `Bearer ${forge.token}`, ...headers },
    })
  t.true(Buffer.from(await (await content()).arrayBuffer()).equals(bytes))
  for (const [range, part] of [
    ['bytes=0-0', bytes.subarray(0, 1)],
    ['bytes=10-19', bytes.subarray(10, 20)],
    ['bytes=-1', bytes.subarray(-1)],
  ] as const) {
    const response = await content({ range })
    t.is(response.status, 206)
    t.true(Buffer.from(await response.arrayBuffer()).equals(part), range)
  }
  t.is((await content({ range: 'bytes=100000-' })).status, 416)

  const later = randomBytes(50_000)
  const announced = { filename: 'later.bin', size_bytes: later.length, sha256: digestOf(later) }
  const { body: target } = await ask(announced)
  const put = async (from: number, to: number) => {
    const response = await fetch(target.url, {
      method: 'PUT',
      headers: { ...target.headers, 'content-range': `bytes ${from}-${to - 1}/${later.length}` },
      body: new Uint8Array(later.subarray(from, to)),
    })
    return { status: response.status, body: await response.json() }
  }
  t.like(await put(0, 20_000), { status: 200, body: { received_bytes: 20_000 } })
  await s3.kill()
  const away = { status: 503, body: { code: 'store.unavailable' } }
  t.like(await put(20_000, 50_000), away)
  const { upload_id, path } = target
  t.like(await register({ path, upload_id, step: 2 }), away)
  t.is((await content()).status, 503)
  t.is((await forge.call('GET', '/api/version')).status, 200)

  await s3.start()
  t.is((await ask(announced)).body.received_bytes, 20_000)
  t.like(await put(20_000, 50_000), { status: 200, body: { received_bytes: 50_000 } })
  const { body } = await register({ path, upload_id, step: 2 })
  t.is((await untilIs(forge, body.artifact_id, 'verified')).sha256, digestOf(later))
  t.true(Buffer.from(await (await content()).arrayBuffer()).equals(bytes))

  const other = (await ask({ filename: 'x', size_bytes: 4, sha256: digestOf(Buffer.from('good')) }))
    .body
  const wrong = await fetch(other.url, { method: 'PUT', headers: other.headers, body: 'evil' })
  t.like(await wrong.json(), { code: 'upload.sha256' })
  t.is(wrong.status, 400)
})
