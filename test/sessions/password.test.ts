import test from 'ava'
import { adminPassword } from '../servers/api.ts'
import { startForge } from '../servers/forge.ts'

const renewed = 'another horse entirely'

test('changing a password ends all sessions but the current one', async t => {
  const forge = await startForge(t)
  const signIn = (password: string) =>
    forge.call<{ token: string }>('POST', '/api/auth/login', {
      body: { username: 'admin', password },
      token: null,
    })
  const other = (await signIn(adminPassword)).body.token
  const change = (current: string, password: string) =>
    forge.call('POST', '/api/auth/password', { body: { current, new: password } })

  const wrong = await change('not the password', renewed)
  t.is(wrong.status, 401)
  t.is(wrong.body.code, 'password.wrong')
  for (const bad of ['too short', 'x'.repeat(1025), 'admin-2026-11', 'Password1234', adminPassword])
    t.is((await change(adminPassword, bad)).status, 400, bad)
  t.is((await forge.call('GET', '/api/auth/me', { token: other })).status, 200)

  t.deepEqual((await change(adminPassword, renewed)).body, { ok: true })
  t.is((await forge.call('GET', '/api/auth/me', { token: other })).status, 401)
  t.is((await forge.call('GET', '/api/auth/me')).status, 200)
  t.is((await signIn(adminPassword)).status, 401)
  t.is((await signIn(renewed)).status, 200)

  const { rows } = await forge.pool.query(
    `select type, data, meta->'actor' as actor from write.event
      where stream = 'user-admin' and type = 'user.password_changed'`,
  )
  t.deepEqual(rows, [
    {
      type: 'user.password_changed',
      data: { username: 'admin' },
      actor: { type: 'user', id: 'admin', via: 'password' },
    },
  ])
})
