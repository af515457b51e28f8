import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { startForge, startForgeProcess } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { newBucket, ownS3 } from '../servers/s3-bucket.ts'
import { expected, startingJobs } from './starting.ts'

test.serial('jobs start from stored artifacts of others, selected in every way', async t => {
  t.timeout(patient(300_000), 'the first run builds an environment')
  const forge = await startForge(t)
  const { source, found, submit, untilEnded, log } = await startingJobs(forge)
  const { run_id, first, third } = await source()
  t.regex(third.path, /\/step-3\.folder\.tar\.gz$/)
  t.deepEqual(await found({ artifact_id: first.artifact_id }), expected(1))
  t.deepEqual(await found({ artifact_id: third.artifact_id }), expected(3))
  t.deepEqual(await found({ run_id, select: 'latest' }), expected(3))
  t.deepEqual(await found({ run_id, select: 'best' }), expected(2))
  t.deepEqual(await found({ run_id, select: { step: 1 } }), expected(1))

  await writeFile(join(forge.dataDir, 'uploads', 'sha256', first.sha256), Buffer.alloc(200_000, 9))
  const damaged = await submit({ init_from: { artifact_id: first.artifact_id } })
  const { state } = await untilEnded(damaged)
  t.is(state, 'failed', await log(damaged))
  const { body } = await forge.call<{ why: string }>('GET', `/api/runs/${damaged}`)
  t.regex(body.why, new RegExp(`the run cannot start from ${first.artifact_id} .*damaged`))
})

// needs s3
test.serial(
  'a start waits for an unavailable bucket, through the death of its server, or until it is stopped',
  async t => {
    t.timeout(patient(300_000), 'the first run builds an environment')
    const s3 = await ownS3(t)
    const { endpoint, bucket, keyId, secret } = await newBucket(s3.address)
    const forge = await startForgeProcess(t, {
      SERVICE_S3_ENDPOINT: endpoint ?? '',
      SERVICE_S3_BUCKET: bucket,
      SERVICE_S3_KEY_ID: keyId,
      SERVICE_S3_SECRET: secret,
    })
    const { source, found, submit, said, untilEnded, untilLogged, log } = await startingJobs(forge)
    const { run_id, second } = await source()
    t.deepEqual(await found({ artifact_id: second.artifact_id }), expected(2))
    t.deepEqual(await found({ run_id, select: 'latest' }), expected(3))

    await s3.kill()
    const stopped = await submit({ init_from: { run_id, select: 'latest' } })
    await untilLogged(stopped, 'trying again from byte 0')
    const waiting = await submit({ init_from: { run_id, select: 'best' } })
    await untilLogged(waiting, 'trying again from byte 0')
    const { status } = await forge.call('POST', `/api/jobs/${stopped}/stop`)
    t.is(status, 200)
    t.is((await untilEnded(stopped)).state, 'stopped')

    await forge.kill()
    await s3.start()
    await forge.start()
    const { state } = await untilEnded(waiting)
    t.is(state, 'succeeded', await log(waiting))
    t.deepEqual(await said(waiting), expected(2))
  },
)
