import { randomBytes } from 'node:crypto'
import test from 'ava'
import { digestOf, storing } from '../artifacts/storing.ts'
import { startForge } from '../servers/forge.ts'
import { createRun } from '../servers/runs.ts'
import { signedIn } from '../servers/signed-in.ts'

const beyond = { code: 'quota.storage' }

test('artifacts and uploads beyond the storage quota are refused with both numbers, until something is deleted', async t => {
  const forge = await startForge(t, { SERVICE_ROLES: 'command-api,relay,projector,query-api' })
  const alice = await signedIn(forge, 'alice')
  const quota = (max_storage_gb: number) =>
    forge.call('POST', '/api/admin/quotas', { body: { username: 'alice', max_storage_gb } })
  await quota(0.001)
  const asAlice = {
    ...forge,
    call: ((method, path, options = {}) =>
      forge.call(method, path, { token: alice, ...options })) as typeof forge.call,
  }
  const run = await createRun(asAlice)
  const { ask, register, store } = storing(asAlice, run)
  const bytes = randomBytes(600_000)
  const stored = await store(bytes, 'first.bin', 1)

  const announced = await ask({ filename: 'second.bin', size_bytes: 400_001, step: 2 })
  t.is(announced.status, 400)
  t.like(announced.body, {
    ...beyond,
    detail:
      '0.0004 GB more would exceed the storage quota of alice: 0.0006 GB of 0.001 GB are used',
    data: { limit_bytes: 1_000_000, used_bytes: 600_000, requested_bytes: 400_001 },
  })
  const elsewhere = { path: 's3://bucket/key', step: 2 }
  t.like((await register({ ...elsewhere, size_bytes: 400_001 })).body, beyond)
  t.is((await register({ ...elsewhere, size_bytes: 400_000 })).status, 200)
  t.is((await register({ ...elsewhere, size_bytes: 400_000 })).status, 200, 'it counts once')
  t.like((await register({ ...elsewhere, size_bytes: 400_001 })).body, beyond)

  const own = { purpose: 'package', filename: 'code.tar.gz', content_type: 'application/gzip' }
  const packed = { ...own, size_bytes: 10, sha256: digestOf(Buffer.from('0123456789')) }
  const upload = () => asAlice.call('POST', '/api/uploads', { body: packed })
  t.like((await upload()).body, beyond)
  t.is((await forge.call('POST', '/api/uploads', { body: packed })).status, 200, 'another person')

  const removed = await asAlice.call('DELETE', `/api/artifacts/${stored.artifact_id}`)
  t.is(removed.status, 200, JSON.stringify(removed.body))
  t.is((await upload()).status, 200)
  t.is((await ask({ filename: 'third.bin', size_bytes: 599_990, step: 3 })).status, 200)
  t.is((await ask({ filename: 'fourth.bin', size_bytes: 1, step: 4 })).status, 400, 'announced too')
  await quota(0)
  t.is((await ask({ filename: 'fourth.bin', size_bytes: 1, step: 4 })).status, 200)
})
