import test from 'ava'
import { startForge } from '../servers/forge.ts'

type Listed = { username: string; quota: { default: boolean; max_concurrent_gpus: number } }

test('people are listed by name, in pages, with their quotas and without any secret', async t => {
  const forge = await startForge(t)
  for (const username of ['carol', 'alice', 'bob'])
    await forge.call('POST', '/api/admin/users', { body: { username, role: 'operator' } })
  await forge.call('POST', '/api/admin/quotas', {
    body: { username: 'bob', max_concurrent_gpus: 3 },
  })
  const page = (query: string) => forge.call<Listed[]>('GET', `/api/admin/users?${query}`)
  const all = await page('')
  t.deepEqual(
    all.body.map(({ username }) => username),
    ['admin', 'alice', 'bob', 'carol'],
  )
  t.is(all.headers.get('x-total-count'), '4')
  t.deepEqual(
    all.body.map(({ quota }) => [quota.default, quota.max_concurrent_gpus]),
    [
      [true, 8],
      [true, 8],
      [false, 3],
      [true, 8],
    ],
  )
  t.deepEqual(Object.keys(all.body[0] ?? {}), [
    'username',
    'role',
    'role_label',
    'display_name',
    'email',
    'disabled',
    'created_at',
    'last_login_at',
    'auth',
    'second_factor',
    'quota',
  ])
  const second = await page('limit=2&offset=1')
  t.deepEqual(
    second.body.map(({ username }) => username),
    ['alice', 'bob'],
  )
  t.true(second.headers.get('link')?.includes('rel="next"'))
  for (const query of ['limit=0', 'limit=501', 'offset=-1', 'huh=1'])
    t.is((await page(query)).status, 422, query)
})

test('one person is read by name; an unknown one is 404', async t => {
  const forge = await startForge(t)
  const { body, status } = await forge.call('GET', '/api/admin/users/admin')
  t.is(status, 200)
  t.like(body, { username: 'admin', role: 'admin', role_label: 'Admin', auth: 'password' })
  t.regex(String(body.last_login_at), /\+00:00$/)
  const missing = await forge.call('GET', '/api/admin/users/nobody')
  t.is(missing.status, 404)
  t.is(missing.body.detail, 'No such user: nobody')
})
