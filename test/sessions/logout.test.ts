import test from 'ava'
import { adminPassword } from '../servers/api.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { signedIn } from '../servers/signed-in.ts'

type Signed = { token: string; cookie: string }

async function signIn(forge: Pick<Forge, 'call'>): Promise<Signed> {
  const reply = await forge.call<{ token: string }>('POST', '/api/auth/login', {
    body: { username: 'admin', password: adminPassword },
    token: null,
  })
  const [cookie = ''] = reply.headers.getSetCookie()[0]?.split(';') ?? []
  return { token: reply.body.token, cookie }
}

const logout = (server: Pick<Forge, 'call'>, token: string | null, cookie?: string, more = {}) =>
  server.call('POST', '/api/auth/logout', {
    token,
    headers: { ...(cookie && { cookie }), ...more },
  })

test('signing out ends the access token in every process, and the refresh token with it', async t => {
  const forge = await startForge(t)
  const other = await forge.another({ SERVICE_ROLES: 'command-api,query-api' })
  const me = (server: Pick<Forge, 'call'>, token: string) =>
    server.call('GET', '/api/auth/me', { token }).then(({ status }) => status)
  const refreshed = (cookie: string) =>
    forge
      .call('POST', '/api/auth/refresh', { token: null, headers: { cookie } })
      .then(({ status }) => status)

  const byToken = await signIn(forge)
  t.is(await me(other, byToken.token), 200)
  const reply = await logout(forge, byToken.token)
  t.deepEqual([reply.status, reply.body], [200, { ok: true }])
  t.regex(reply.headers.getSetCookie()[0] ?? '', /^forge_refresh=; Path=\/api\/auth; Max-Age=0;/)
  t.is(await me(forge, byToken.token), 401)
  t.is(await refreshed(byToken.cookie), 401)
  t.is((await logout(forge, byToken.token)).status, 401)
  t.is((await logout(forge, null, byToken.cookie)).status, 401)

  const byCookie = await signIn(forge)
  t.is((await logout(other, 'expired.or.forged', byCookie.cookie)).status, 200)
  t.is(await me(other, byCookie.token), 401)

  const [one, two] = [await signIn(forge), await signIn(forge)]
  for (const origin of ['https://evil.example', 'null'])
    t.is((await logout(forge, one.token, two.cookie, { origin })).status, 403)
  t.is(await me(forge, one.token), 200)
  t.is((await logout(forge, one.token, two.cookie, { origin: forge.url })).status, 200)
  t.deepEqual([await me(forge, one.token), await me(forge, two.token)], [401, 401])

  t.is((await logout(forge, null)).status, 401)
  t.is((await logout(forge, null, 'forge_refresh=x')).status, 401)
  const { rows } = await forge.pool.query(
    `select data->>'username' as username, meta->'actor' as actor from write.event where type = 'user.logout'`,
  )
  const actor = { type: 'user', id: 'admin', via: 'password' }
  t.deepEqual(rows, Array(4).fill({ username: 'admin', actor }))
})

test('signing out ends the session of the token even if the cookie was used before', async t => {
  const forge = await startForge(t)
  const [one, two] = [await signIn(forge), await signIn(forge)]
  const refresh = (cookie: string) =>
    forge.call('POST', '/api/auth/refresh', { token: null, headers: { cookie } })
  const next = (await refresh(two.cookie)).headers.getSetCookie()[0]?.split(';')[0] ?? ''
  t.is((await refresh(next)).status, 200)
  t.is((await logout(forge, one.token, two.cookie)).status, 200)
  for (const { token } of [one, two])
    t.is((await forge.call('GET', '/api/auth/me', { token })).status, 401)
})

test('no other page can sign this browser in', async t => {
  const forge = await startForge(t)
  const from = (headers: Record<string, string>) =>
    forge.call('POST', '/api/auth/login', {
      body: { username: 'admin', password: adminPassword },
      token: null,
      headers,
    })
  for (const headers of [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'same-site' },
  ]) {
    const reply = await from(headers)
    t.is(reply.status, 403)
    t.is(reply.body.code, 'origin.foreign')
    t.deepEqual(reply.headers.getSetCookie(), [])
  }
  t.is((await from({ origin: forge.url })).status, 200)
})

test('people see and end their own sessions, and nobody sees those of others', async t => {
  const forge = await startForge(t)
  const alice = await signedIn(forge, 'alice')
  const { token } = await signIn(forge)
  type Session = { sid: string; via: string; current: boolean }
  const list = (as: string) => forge.call<Session[]>('GET', '/api/auth/sessions', { token: as })
  const end = (sid: string, as: string) =>
    forge.call('DELETE', `/api/auth/sessions/${sid}`, { token: as })

  const mine = await list(token)
  t.is(mine.body.length, 2)
  t.deepEqual(
    mine.body.map(({ current }) => current),
    [true, false],
  )
  t.like(mine.body[0], { via: 'password', user_agent: 'node', last_used_at: null })
  const [hers] = (await list(alice)).body
  t.truthy(hers?.current)
  const [current, other] = mine.body.map(({ sid }) => sid)

  const hidden = await end(String(hers?.sid), token)
  const missing = await end('ses_00000000000000000000000000', token)
  t.deepEqual([hidden.status, missing.status], [404, 404])
  t.is((await forge.call('GET', '/api/auth/me', { token: alice })).status, 200)

  t.deepEqual((await end(String(other), token)).body, { ok: true })
  t.is((await forge.call('GET', '/api/auth/me')).status, 401)
  t.is((await end(String(other), token)).status, 404)
  t.is((await list(token)).body.length, 1)
  t.is((await end(String(current), token)).status, 200)
  t.is((await list(token)).status, 401)
})

test('the ways to sign in are shown without a token', async t => {
  const forge = await startForge(t, { SERVICE_JWT_HOURS: '3' })
  const { status, body } = await forge.call('GET', '/api/auth/config', { token: null })
  t.is(status, 200)
  t.like(body, {
    password: { enabled: true },
    oidc: { enabled: false, name: null, login_url: null },
    access_token_hours: 3,
    instance: { name: 'forge', console_url: `http://localhost:${new URL(forge.url).port}` },
    notice: null,
  })
  t.true((body.methods as string[]).includes('password'))
})
