import test from 'ava'
import { defaultQuota } from '../../schemas/quotas.ts'
import { startForge } from '../servers/forge.ts'
import { signedIn } from '../servers/signed-in.ts'

const set = {
  max_concurrent_gpus: 16,
  max_concurrent_jobs: 2,
  daily_gpu_hours: 12.5,
  max_storage_gb: 100,
  allowed_profiles: ['h100-8x'],
  priority: 5,
  per_series: { H100: { max_concurrent_gpus: 8 } },
}

test('without a row the defaults apply; a set quota is returned, listed and shown to the user', async t => {
  const forge = await startForge(t)
  const alice = await signedIn(forge, 'alice')
  const read = () => forge.call('GET', '/api/admin/quotas/alice')
  const eightGpus = { max_concurrent_gpus: 8, max_concurrent_jobs: 4, default: true }
  t.like((await read()).body, eightGpus)
  t.deepEqual((await read()).body, defaultQuota)
  const posted = await forge.call('POST', '/api/admin/quotas', {
    body: { username: 'alice', ...set },
  })
  t.is(posted.status, 200)
  t.deepEqual(posted.body, { ...set, default: false })
  t.deepEqual((await read()).body, { ...set, default: false })
  const { body: listed, headers } = await forge.call<object[]>('GET', '/api/admin/quotas')
  t.deepEqual(listed, [
    { username: 'admin', ...defaultQuota },
    { username: 'alice', ...set, default: false },
  ])
  t.is(headers.get('x-total-count'), '2')
  const me = await forge.call<{ quota: object }>('GET', '/api/auth/me', { token: alice })
  t.deepEqual(me.body.quota, { ...set, default: false })
})

test('a field missing from a quota gets its default, not its previous value', async t => {
  const forge = await startForge(t)
  await forge.call('POST', '/api/admin/quotas', { body: { username: 'admin', ...set } })
  const { body } = await forge.call('POST', '/api/admin/quotas', {
    body: { username: 'admin', max_concurrent_gpus: 1 },
  })
  t.deepEqual(body, { ...defaultQuota, max_concurrent_gpus: 1, default: false })
})

test('the quota of an unknown user can be neither set nor read', async t => {
  const forge = await startForge(t)
  const posted = await forge.call('POST', '/api/admin/quotas', { body: { username: 'nobody' } })
  const read = await forge.call('GET', '/api/admin/quotas/nobody')
  for (const { status, body } of [posted, read]) {
    t.is(status, 404)
    t.is(body.detail, 'No such user: nobody')
  }
})

const wrong: [why: string, body: object, loc: unknown[], type: string][] = [
  ['no username', {}, ['body', 'username'], 'missing'],
  ['negative', { max_concurrent_gpus: -1 }, ['body', 'max_concurrent_gpus'], 'greater_than_equal'],
  [
    'a fraction of a job',
    { max_concurrent_jobs: 1.5 },
    ['body', 'max_concurrent_jobs'],
    'int_type',
  ],
  ['hours as text', { daily_gpu_hours: '3' }, ['body', 'daily_gpu_hours'], 'float_type'],
  ['profiles as text', { allowed_profiles: 'h100' }, ['body', 'allowed_profiles'], 'list_type'],
  ['an unknown key', { gpus: 3 }, ['body', 'gpus'], 'extra_forbidden'],
]
test('an invalid quota is 422 at its field, and an operator may not set one', async t => {
  const forge = await startForge(t)
  for (const [why, part, loc, type] of wrong) {
    const body = why === 'no username' ? part : { username: 'admin', ...part }
    const answer = await forge.call<{ detail: object[] }>('POST', '/api/admin/quotas', { body })
    t.is(answer.status, 422, why)
    t.like(answer.body.detail[0] ?? {}, { loc, type }, why)
  }
  const token = await signedIn(forge, 'alice')
  const refused = await forge.call('POST', '/api/admin/quotas', {
    token,
    body: { username: 'alice', max_concurrent_gpus: 64 },
  })
  t.is(refused.status, 403)
  for (const path of ['/api/admin/quotas', '/api/admin/quotas/nobody'])
    t.is((await forge.call('GET', path, { token })).status, 403)
})
