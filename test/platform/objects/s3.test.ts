import { randomBytes } from 'node:crypto'
import { PassThrough } from 'node:stream'
import test, { type ExecutionContext } from 'ava'
import { partBytesOf, S3Store } from '../../../platform/objects/s3.ts'
import type { S3Place } from '../../../platform/objects/s3-bucket.ts'
import { patient } from '../../servers/patience.ts'
import { addressOf } from '../../servers/rendezvous.ts'
import { newBucket, ownS3 } from '../../servers/s3-bucket.ts'
import { until } from '../../servers/until.ts'
import { bytesOf, kept, sealed, segmentBytes, sending, sha256, storeContract } from './contract.ts'

function storeAt(t: ExecutionContext, place: S3Place): S3Store {
  const store = new S3Store(place, { segmentBytes })
  t.teardown(() => store.close())
  return store
}

storeContract('S3', async t => {
  const place = await newBucket(await addressOf('s3'))
  return async () => storeAt(t, place)
})

const away = { code: 'unavailable', message: /does not respond/ }

test.serial('a server killed midway loses no data', async t => {
  t.timeout(patient(120_000))
  const server = await ownS3(t)
  const store = storeAt(t, await newBucket(server.address))
  const bytes = randomBytes(3 * segmentBytes + 50)
  const held = await kept(store, 'upl_before', Buffer.from('kept before'))

  const body = new PassThrough()
  const receiving = store.receive('upl_1', 0, body)
  body.write(bytes.subarray(0, segmentBytes + 10))
  await until('a segment is here', 10_000, async () => (await store.received('upl_1')) > 0)
  await server.kill()
  const refused = t.throwsAsync(receiving, away)
  body.end(bytes.subarray(segmentBytes + 10))
  await refused
  await t.throwsAsync(store.received('upl_1'), away)
  await t.throwsAsync(store.sizeOf(held), away, 'it is not missing')
  await t.throwsAsync(store.read(held, null), away)
  await t.throwsAsync(store.seal('upl_1'), away)
  await t.throwsAsync(store.list(), away)

  await server.start()
  t.is(await store.received('upl_1'), segmentBytes)
  t.is(
    await store.receive('upl_1', segmentBytes, sending(bytes.subarray(segmentBytes))),
    bytes.length,
  )
  const copy = await sealed(store, 'upl_1')
  await server.kill()
  await t.throwsAsync(store.keep(copy), away)
  await server.start()
  await store.keep(copy)
  t.is(copy.sha256, sha256(bytes))
  t.deepEqual(await bytesOf(await store.read(copy.sha256, null)), bytes)
  t.is(String(await bytesOf(await store.read(held, null))), 'kept before')
})

test.serial('without its bucket or with a wrong secret, nothing looks missing', async t => {
  const place = await newBucket(await addressOf('s3'))
  const digest = sha256(Buffer.from('x'))
  const without = storeAt(t, { ...place, bucket: `${place.bucket}-gone` })
  await t.throwsAsync(without.sizeOf(digest), away)
  await t.throwsAsync(without.read(digest, null), away)
  const stranger = storeAt(t, { ...place, secret: 'wrong' })
  await t.throwsAsync(stranger.sizeOf(digest), away)
  await t.throwsAsync(stranger.receive('upl_1', 0, sending(Buffer.from('x'))), away)
})

test('files of every size that may be sent fit into the parts that S3 takes', t => {
  const megabytes = [0, 1, 5, 8, 80_000, 80_001, 1_000_000]
  for (const size of megabytes.map(count => count * 1024 ** 2)) {
    const part = partBytesOf(size)
    t.true(part >= 5 * 1024 ** 2 && part <= 5 * 1024 ** 3)
    t.true(Math.ceil(size / part) <= 10_000, String(size))
  }
})
