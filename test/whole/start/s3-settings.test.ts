import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { CannotStart } from '../../../platform/cannot-start.ts'
import { redacted } from '../../../platform/settings.ts'
import { readConfig } from '../../../server/settings/config.ts'
import { s3PlaceOf } from '../../../server/settings/s3.ts'
import { configFaults } from '../../servers/config-faults.ts'

const bucket = { SERVICE_S3_BUCKET: 'forge', SERVICE_S3_KEY_ID: 'id' }

test('a bucket is used if all its settings are present; its secret may come from a file, and is not shown', async t => {
  t.is(await s3PlaceOf(readConfig({})), null)
  const config = readConfig({ ...bucket, SERVICE_S3_SECRET: 'hidden' })
  t.notRegex(JSON.stringify(redacted(config)), /hidden/)
  const place = { bucket: 'forge', endpoint: null, region: 'us-east-1', keyId: 'id' }
  t.deepEqual(await s3PlaceOf(config), { ...place, secret: 'hidden' })
  const folder = await mkdtemp(join(tmpdir(), 'forge-s3-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const file = join(folder, 'secret')
  const fromFile = readConfig({ ...bucket, SERVICE_S3_SECRET_FILE: file })
  await t.throwsAsync(s3PlaceOf(fromFile), { instanceOf: CannotStart, message: /SECRET_FILE/ })
  await writeFile(file, ' \n')
  await t.throwsAsync(s3PlaceOf(fromFile), {
    ...{ instanceOf: CannotStart, message: `SERVICE_S3_SECRET_FILE=${file} is empty` },
  })
  await writeFile(file, 'in the file\n')
  t.deepEqual(await s3PlaceOf(fromFile), { ...place, secret: 'in the file' })
})

test('settings of a bucket that do not fit together are named', t => {
  t.deepEqual(configFaults({ SERVICE_S3_KEY_ID: 'id' }), [
    'SERVICE_S3_KEY_ID: without effect unless SERVICE_S3_BUCKET is set',
  ])
  t.deepEqual(configFaults({ SERVICE_S3_BUCKET: 'forge' }), [
    'SERVICE_S3_BUCKET needs SERVICE_S3_KEY_ID',
    'SERVICE_S3_BUCKET needs either SERVICE_S3_SECRET or SERVICE_S3_SECRET_FILE',
  ])
  const odd = { ...bucket, SERVICE_S3_SECRET: 'x', SERVICE_S3_ENDPOINT: 'minio:9000' }
  t.is(configFaults(odd).length, 1)
  t.is(configFaults({ ...bucket, SERVICE_S3_SECRET: 'x', SERVICE_S3_BUCKET: 'A B' }).length, 1)
})
