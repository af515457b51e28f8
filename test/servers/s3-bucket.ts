import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import type { ExecutionContext } from 'ava'
import { keyId, secret, startS3 } from '../../deploy/s3/server.ts'
import type { S3Place } from '../../platform/objects/s3-bucket.ts'

/** A bucket for this test alone. */
export async function newBucket(endpoint: string): Promise<S3Place> {
  const place = { endpoint, region: 'us-east-1', bucket: `test-${randomUUID()}`, keyId, secret }
  const client = new S3Client({
    endpoint,
    region: place.region,
    forcePathStyle: true,
    credentials: { accessKeyId: keyId, secretAccessKey: secret },
  })
  try {
    await client.send(new CreateBucketCommand({ Bucket: place.bucket }))
  } finally {
    client.destroy()
  }
  return place
}

/** A server for this test alone, which may be killed and restarted on its port. */
export async function ownS3(t: ExecutionContext) {
  const folder = await mkdtemp(join(tmpdir(), 'forge-s3-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  let server = await startS3({ folder })
  const { address } = server
  t.teardown(() => server.stop('SIGKILL'))
  return {
    address,
    kill: () => server.stop('SIGKILL'),
    async start() {
      server = await startS3({ folder, port: Number(new URL(address).port) })
    },
  }
}
