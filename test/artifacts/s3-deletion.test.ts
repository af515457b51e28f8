import { randomBytes } from 'node:crypto'
import test from 'ava'
import { S3Store } from '../../platform/objects/s3.ts'
import { startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { createRun } from '../servers/runs.ts'
import { newBucket, ownS3 } from '../servers/s3-bucket.ts'
import { until } from '../servers/until.ts'
import { digestOf, storing, untilIs } from './storing.ts'

// needs s3
test('artifacts in a bucket are deleted there, even around an outage', async t => {
  t.timeout(patient(150_000))
  const s3 = await ownS3(t)
  const place = await newBucket(s3.address)
  const forge = await startForge(t, {
    SERVICE_ROLES: 'command-api,relay,projector,query-api',
    SERVICE_S3_ENDPOINT: place.endpoint ?? '',
    SERVICE_S3_BUCKET: place.bucket,
    SERVICE_S3_KEY_ID: place.keyId,
    SERVICE_S3_SECRET: place.secret,
  })
  const bucket = new S3Store(place)
  t.teardown(() => bucket.close())
  const { store } = storing(forge, await createRun(forge))
  const [first, second, kept] = [randomBytes(5000), randomBytes(6000), randomBytes(7000)]
  const one = await store(first, 'first', 1)
  const two = await store(second, 'second', 2)
  await store(kept, 'kept', 3)
  const remove = (id: string) => forge.call('DELETE', `/api/artifacts/${id}`)

  t.like((await remove(one.artifact_id)).body, { bytes: 'removed', freed_bytes: 5000 })
  await untilIs(forge, one.artifact_id, 'deleted')
  t.is(await bucket.sizeOf(digestOf(first)), null)

  await s3.kill()
  t.is((await remove(two.artifact_id)).status, 200, 'the deletion is accepted')
  await until('the removal has failed', 30_000, async () => {
    const { rowCount } = await forge.pool.query(
      `select from write.duty where reactor = 'remove-artifacts' and done_at is null and last_error is not null`,
    )
    return rowCount === 1
  })
  await untilIs(forge, two.artifact_id, 'deleting')
  await s3.start()
  // Sooner than the automatic retry.
  await forge.pool.query(
    `update write.duty set due_at = now() where reactor = 'remove-artifacts' and done_at is null`,
  )
  await untilIs(forge, two.artifact_id, 'deleted')
  t.is(await bucket.sizeOf(digestOf(second)), null)
  t.is(await bucket.sizeOf(digestOf(kept)), 7000)
})
