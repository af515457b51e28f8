import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { digestOf, storing, untilIs } from '../artifacts/storing.ts'
import { type Forge, startForge, startForgeProcess } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { createRun } from '../servers/runs.ts'
import { newBucket, ownS3 } from '../servers/s3-bucket.ts'
import { until } from '../servers/until.ts'
import { type Answer, complete, put, type Target } from './sending.ts'

type InParts = Target & {
  multipart: {
    part_size: number
    parts: { n: number; url: string }[]
    complete_url: string
  }
}

const roles = { SERVICE_ROLES: 'command-api,relay,projector,query-api' }
const mebibyte = 1024 * 1024
const file = (mebibytes: number) => randomBytes(mebibytes * mebibyte + 7)

async function announce(forge: Forge, bytes: Buffer, more: object = {}): Promise<InParts> {
  const { status, body } = await forge.call<InParts>('POST', '/api/uploads', {
    body: {
      ...{ purpose: 'dataset', filename: 'rows.jsonl', size_bytes: bytes.length },
      ...{ content_type: 'application/octet-stream', parts: 3, ...more },
    },
  })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body
}

/** Sends one part of the file. */
function sendPart({ headers, multipart }: InParts, n: number, bytes: Buffer): Promise<Answer> {
  const url = String(multipart.parts.find(part => part.n === n)?.url)
  return put({ url, headers }, partOf(multipart.part_size, n, bytes))
}

const partOf = (size: number, n: number, bytes: Buffer) => bytes.subarray((n - 1) * size, n * size)

async function joined(url: string): Promise<Answer> {
  const response = await fetch(url, { method: 'POST' })
  return { status: response.status, body: await response.json() }
}

test('parts arrive in any order and repeatedly; the file is complete once all have arrived', async t => {
  t.timeout(patient(120_000))
  const forge = await startForge(t, roles)
  const bytes = file(12)
  const target = await announce(forge, bytes)
  const { part_size, parts, complete_url } = target.multipart
  t.is(part_size, 5 * mebibyte)
  t.deepEqual(
    parts.map(({ n }) => n),
    [1, 2, 3],
  )
  t.like(await sendPart(target, 3, bytes), { status: 200, body: { received_bytes: 2_097_159 } })
  t.is((await sendPart(target, 1, randomBytes(bytes.length))).status, 200)
  const lacking = { status: 409, body: { code: 'upload.parts_missing', data: { missing: [2] } } }
  t.like(await joined(complete_url), lacking)
  t.like(await complete(forge, target), lacking)
  t.is((await sendPart(target, 2, bytes)).status, 200)
  t.is((await sendPart(target, 1, bytes)).status, 200, 'in place of the first one')
  const whole = { status: 200, body: { received_bytes: bytes.length, size_bytes: bytes.length } }
  t.like(await joined(complete_url), whole)
  t.like(await joined(complete_url), whole)
  t.like((await complete(forge, target)).body, { status: 'completed', sha256: digestOf(bytes) })
  t.like(await joined(complete_url), whole)
  t.like(await sendPart(target, 2, bytes), { status: 409, body: { code: 'upload.completed' } })
  t.deepEqual(await readdir(join(forge.dataDir, 'uploads')), ['sha256'])

  // The layout from the first time applies.
  const other = file(20)
  const sha256 = digestOf(other)
  const first = await announce(forge, other, { sha256, parts: 2 })
  const again = await announce(forge, other, { sha256, parts: 9 })
  t.is(again.upload_id, first.upload_id)
  t.is(again.multipart.part_size, first.multipart.part_size)
  t.is((await announce(forge, other, { parts: null })).multipart, null as never)
})

test('a part that does not fit is refused, and a file with another digest starts over', async t => {
  t.timeout(patient(120_000))
  const forge = await startForge(t, roles)
  const bytes = file(10)
  const target = await announce(forge, bytes, { sha256: digestOf(bytes) })
  const { headers, multipart } = target
  const first = String(multipart.parts[0]?.url)
  const to = (url: string, length: number, more: Record<string, string> = {}) =>
    put({ url, headers }, bytes.subarray(0, length), more)
  t.like(await to(first, 100), { status: 400, body: { code: 'upload.length' } })
  t.like(await to(first.replace('part=1', 'part=9'), 100), {
    status: 400,
    body: { code: 'upload.part' },
  })
  t.is((await to(first.replace('part=1', 'part=0'), 100)).status, 422)
  const range = { 'content-range': `bytes 0-99/${bytes.length}` }
  t.like(await to(first, 100, range), { status: 400, body: { code: 'upload.range' } })
  t.is((await to(first.replace('sig=', 'sig=a'), 100)).status, 403)
  t.is((await joined(multipart.complete_url.replace('sig=', 'sig=a'))).status, 403)

  const wrong = randomBytes(bytes.length)
  for (const { n } of multipart.parts) await sendPart(target, n, wrong)
  t.like(await joined(multipart.complete_url), { status: 400, body: { code: 'upload.sha256' } })
  t.deepEqual(await readdir(join(forge.dataDir, 'uploads')), ['sha256'])
  for (const { n } of multipart.parts) await sendPart(target, n, bytes)
  t.like((await complete(forge, target)).body, { status: 'completed' })
})

test('a server that dies while joining parts resumes where it was', async t => {
  t.timeout(patient(120_000))
  const forge = await startForgeProcess(t, roles)
  const bytes = file(100)
  const target = await announce(forge, bytes, { parts: 20 })
  const { parts, complete_url } = target.multipart
  await Promise.all(parts.map(({ n }) => sendPart(target, n, bytes)))
  const asked = joined(complete_url).catch(() => null)
  const here = join(forge.dataDir, 'uploads', `${target.upload_id}.part`)
  await until('it has begun', 20_000, async () => {
    const names = await readdir(join(forge.dataDir, 'uploads'))
    return names.some(name => here.endsWith(name))
  })
  await forge.kill()
  await asked
  await forge.start()
  t.like((await complete(forge, target)).body, { status: 'completed', sha256: digestOf(bytes) })
  t.deepEqual(await readdir(join(forge.dataDir, 'uploads')), ['sha256'])
})

// needs s3
test('an artifact of a run is sent in parts to a bucket, and registering it joins them', async t => {
  t.timeout(patient(150_000))
  const s3 = await ownS3(t)
  const { endpoint, bucket, keyId, secret } = await newBucket(s3.address)
  const forge = await startForge(t, {
    ...roles,
    SERVICE_S3_ENDPOINT: endpoint ?? '',
    SERVICE_S3_BUCKET: bucket,
    SERVICE_S3_KEY_ID: keyId,
    SERVICE_S3_SECRET: secret,
  })
  const { ask, register } = storing(forge, await createRun(forge))
  const bytes = file(11)
  const announced = { filename: 'model.bin', size_bytes: bytes.length, sha256: digestOf(bytes) }
  const { body } = await ask({ ...announced, parts: 3 })
  const target = body as unknown as InParts
  await Promise.all([3, 2].map(n => sendPart(target, n, bytes)))
  const { upload_id, path } = body
  t.like(await register({ path, upload_id, step: 1 }), {
    status: 409,
    body: { code: 'upload.parts_missing' },
  })
  t.is((await sendPart(target, 1, bytes)).status, 200)
  const registered = await register({ path, upload_id, step: 1 })
  t.is(registered.status, 200)
  const artifact = await untilIs(forge, registered.body.artifact_id, 'verified')
  t.like(artifact, { sha256: digestOf(bytes), size_bytes: bytes.length })
})
