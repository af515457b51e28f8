import test from 'ava'
import { mustSetUp, secondFactorPolicies } from '../../auth/second-factor.ts'
import { adminPassword } from '../servers/api.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { eventsOf, signedIn } from '../servers/signed-in.ts'
import { newCode, nextCode } from './authenticator.ts'

test('a policy applies to people with a password and without a second factor', t => {
  const person = { has_password: true, has_second_factor: false }
  const needed = (role: 'admin' | 'operator', more = {}) =>
    secondFactorPolicies.filter(policy => mustSetUp(policy, { ...person, role, ...more }))
  t.deepEqual(needed('admin'), ['administrators', 'everybody'])
  t.deepEqual(needed('operator'), ['everybody'])
  t.deepEqual(needed('admin', { has_second_factor: true }), [])
  t.deepEqual(needed('admin', { has_password: false }), [], 'the identity provider asks')
})

test('where administrators need a second factor, one without may only set it up, and others do as before', async t => {
  const forge = await startForge(t, { SERVICE_SECOND_FACTOR: 'administrators' })
  const post = (path: string, body: object, token: string | null = null) =>
    forge.call<{ token: string; secret: string }>('POST', path, { body, token })
  const who = { username: 'admin', password: adminPassword }
  const { token } = (await post('/api/auth/login', who)).body
  const me = (as: string) =>
    forge.call<{ second_factor: object }>('GET', '/api/auth/me', { token: as })
  t.like((await me(token)).body.second_factor, { must_set_up: true, set_up_at: null })
  const refused = [
    ['GET', '/api/projects'],
    ['GET', '/api/admin/users'],
    ['GET', '/api/auth/sessions'],
    ['GET', '/api/metrics'],
    ['GET', '/api/stream'],
    ['POST', '/api/auth/password'],
  ] as const
  for (const [method, path] of refused) {
    const body = method === 'POST' ? { current: adminPassword, new: 'another horse' } : undefined
    const reply = await forge.call<{ code: string }>(method, path, { token, body })
    t.like(reply, { status: 403, body: { code: 'second_factor.set_up' } }, path)
  }

  const { secret } = (await post('/api/auth/totp', { password: adminPassword }, token)).body
  t.is((await post('/api/auth/totp/confirm', { code: newCode(secret) }, token)).status, 200)
  t.is((await forge.call('GET', '/api/admin/users', { token })).status, 200, 'at once')
  t.like((await me(token)).body.second_factor, { must_set_up: false })
  const next = await post('/api/auth/login', { ...who, code: nextCode(secret) })
  t.is(next.status, 200)

  // An operator needs none.
  const asAdmin: Pick<Forge, 'call'> = {
    call: (method, path, options) => forge.call(method, path, { token, ...options }),
  }
  const ada = await signedIn(asAdmin, 'ada')
  t.is((await forge.call('GET', '/api/projects', { token: ada })).status, 200)
  const removed = await post('/api/auth/totp/remove', { password: adminPassword }, token)
  t.like(removed, { status: 409, body: { code: 'second_factor.last' } })
  t.is((await forge.call('GET', '/api/projects', { token })).status, 200)
  t.is((await post('/api/auth/logout', {}, token)).status, 200)
})

test('a person removes their own with the password; secret and recovery codes are gone', async t => {
  const forge = await startForge(t)
  const post = (path: string, body: object, more: object = {}) =>
    forge.call<{ secret: string; recovery_codes: string[] }>('POST', path, { body, ...more })
  const left = async () => {
    const me = await forge.call<{ second_factor: object }>('GET', '/api/auth/me')
    return me.body.second_factor
  }
  const none = {
    is_available: true,
    set_up_at: null,
    passkeys: 0,
    recovery_codes_left: 0,
    must_set_up: false,
  }
  const enroll = async (step: (secret: string) => string) => {
    const { secret } = (await post('/api/auth/totp', { password: adminPassword })).body
    const confirmed = await post('/api/auth/totp/confirm', { code: step(secret) })
    t.is(confirmed.status, 200)
    return confirmed.body.recovery_codes
  }
  const signIn = () =>
    post('/api/auth/login', { username: 'admin', password: adminPassword }, { token: null })
  t.deepEqual(await left(), none)
  const first = await enroll(newCode)
  t.like(await left(), { recovery_codes_left: 10 })
  t.is((await signIn()).status, 401)
  const wrong = await post('/api/auth/totp/remove', { password: 'not the password' })
  t.like(wrong, { status: 401, body: { code: 'password.wrong' } })
  t.is((await post('/api/auth/totp/remove', { password: adminPassword })).status, 200)
  t.is((await post('/api/auth/totp/remove', { password: adminPassword })).status, 409)
  t.deepEqual(await left(), none)
  t.is((await signIn()).status, 200)
  const { rows } = await forge.pool.query(
    'select (select count(*)::integer from auth.totp) + (select count(*)::integer from auth.recovery_code) as n',
  )
  t.deepEqual(rows, [{ n: 0 }])
  const second = await enroll(nextCode)
  t.is(second.filter(code => first.includes(code)).length, 0)
  const events = await eventsOf(forge, 'admin')
  t.deepEqual(
    events.map(({ type }) => type).filter(type => type.includes('second_factor')),
    ['user.second_factor_set_up', 'user.second_factor_removed', 'user.second_factor_set_up'],
  )
})

test('an administrator removes the second factor of somebody else, on the record, but not their own', async t => {
  const forge = await startForge(t)
  const password = 'a password of the tests for ada'
  await forge.call('POST', '/api/admin/users', {
    body: { username: 'ada', role: 'operator', password },
  })
  const signIn = (more = {}) =>
    forge.call<{ token: string; code: string }>('POST', '/api/auth/login', {
      body: { username: 'ada', password, ...more },
      token: null,
    })
  const { token } = (await signIn()).body
  const { secret } = (
    await forge.call<{ secret: string }>('POST', '/api/auth/totp', { token, body: { password } })
  ).body
  const code = newCode(secret)
  const confirmed = await forge.call('POST', '/api/auth/totp/confirm', { token, body: { code } })
  t.is(confirmed.status, 200)
  t.is((await signIn()).body.code, 'second_factor.required')
  const listed = await forge.call<{ second_factor: boolean }>('GET', '/api/admin/users/ada')
  t.true(listed.body.second_factor)

  const remove = (name: string, as?: string) =>
    forge.call('DELETE', `/api/admin/users/${name}/second-factor`, as ? { token: as } : {})
  t.is((await remove('ada', token)).status, 403)
  t.is((await remove('admin')).status, 409)
  t.is((await remove('nobody')).status, 404)
  t.is((await remove('ada')).status, 200)
  t.is((await remove('ada')).status, 409)
  t.is((await signIn()).status, 200)
  const events = await eventsOf(forge, 'ada')
  const removed = events.find(({ type }) => type === 'user.second_factor_removed')
  t.like(removed?.meta.actor, { type: 'user', id: 'admin' })
  const audit = await forge.call<{ summary: string }[]>(
    'GET',
    '/api/audit?type=user.second_factor_removed',
  )
  t.regex(JSON.stringify(audit.body), /admin removed the second factor of ada/)
})
