import test, { type ExecutionContext } from 'ava'
import { createPasswords } from '../../auth/passwords.ts'
import { createFirstAdmin } from '../../command-api/sessions/first-admin.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { database } from '../servers/postgres.ts'
import { routeParts } from '../servers/serve-routes.ts'

type Reply = { token: string; code: string; password: string; must_change_password: boolean }

const login = (forge: Forge, password: string) =>
  forge.call<Reply>('POST', '/api/auth/login', {
    token: null,
    body: { username: 'ada', password },
  })

const createAda = async (forge: Forge) =>
  (
    await forge.call<Reply>('POST', '/api/admin/users', {
      body: { username: 'ada', role: 'operator' },
    })
  ).body.password

const chosen = 'staple battery horse 7'

/** Signs in with a generated password, which may only be replaced, and replaces it. */
async function replaces(t: ExecutionContext, forge: Forge, generated: string) {
  const { token } = (await login(forge, generated)).body
  const call = (method: string, path: string, body?: object) =>
    forge.call<Reply>(method, path, { token, ...(body && { body }) })
  t.true((await call('GET', '/api/auth/me')).body.must_change_password)
  const refused = [
    ['GET', '/api/projects'],
    ['GET', '/api/auth/sessions'],
    ['GET', '/api/stream'],
    ['POST', '/api/auth/totp', { password: generated }],
    ['POST', '/api/auth/passkeys/options'],
  ] as const
  for (const [method, path, body] of refused) {
    const { status } = await call(method, path, body)
    t.is(status, 403, path)
  }
  t.is((await call('POST', '/api/auth/confirm', { password: generated })).status, 200)
  t.is((await call('GET', '/api/projects')).body.code, 'password.generated')
  const same = await call('POST', '/api/auth/password', { current: generated, new: generated })
  t.is(same.status, 400)
  const changed = await call('POST', '/api/auth/password', { current: generated, new: chosen })
  t.is(changed.status, 200)
  t.is((await call('GET', '/api/projects')).status, 200, 'at once')
  t.false((await call('GET', '/api/auth/me')).body.must_change_password)
}

test('a password generated for a new person, or by a reset, must be replaced before anything else', async t => {
  const forge = await startForge(t)
  await replaces(t, forge, await createAda(forge))
  const reset = await forge.call<Reply>('PATCH', '/api/admin/users/ada', {
    body: { password: null },
  })
  await forge.pool.query('delete from auth.rate_limit')
  t.is((await login(forge, chosen)).status, 401)
  await replaces(t, forge, reset.body.password)
})

test('a password that was given need not be replaced, also in place of a generated one', async t => {
  const forge = await startForge(t)
  await createAda(forge)
  await forge.call('PATCH', '/api/admin/users/ada', { body: { password: chosen } })
  const { token } = (await login(forge, chosen)).body
  t.is((await forge.call('GET', '/api/projects', { token })).status, 200)
})

test('a generated password that nobody replaced within a day signs nobody in', async t => {
  const forge = await startForge(t)
  const generated = await createAda(forge)
  const age = (hours: number) =>
    forge.pool.query(
      'update auth.person set password_generated_at = now() - make_interval(hours => $1) where username = $2',
      [hours, 'ada'],
    )
  await age(23)
  t.is((await login(forge, generated)).status, 200)
  await age(25)
  t.like(await login(forge, generated), { status: 401, body: { code: 'password.expired' } })
  t.is((await login(forge, 'not the password')).body.code, 'unauthenticated')
  const { body } = await forge.call<Reply>('PATCH', '/api/admin/users/ada', {
    body: { password: null },
  })
  t.is((await login(forge, body.password)).status, 200)
})

test('the first administrator must replace a generated password, not a configured one', async t => {
  for (const [configured, mustChange] of [
    [undefined, true],
    [chosen, false],
  ] as const) {
    const { pool } = await database(t)
    const env = configured ? { SERVICE_INIT_ADMIN_PASSWORD: configured } : {}
    const { deps } = await routeParts(t, pool, () => new Date(), env)
    await createFirstAdmin(deps, await createPasswords())
    const { rows } = await pool.query(
      'select password_generated_at is not null as must from auth.person',
    )
    t.deepEqual(rows, [{ must: mustChange }])
  }
})
