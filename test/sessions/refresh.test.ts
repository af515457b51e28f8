import test from 'ava'
import { cookieOf, type ServedSessions, serveSessions, username } from './serve-sessions.ts'

const day = 86_400

async function reuses({ pool }: ServedSessions) {
  const { rows } = await pool.query(
    `select data->>'username' as username, meta->'actor'->>'via' as via from write.event
      where type = 'user.refresh_reused'`,
  )
  return rows
}

test('each use of a refresh token returns the next one, and the current role', async t => {
  const { signIn, refresh, isLive, demote } = await serveSessions(t)
  const first = await signIn()
  const reply = await refresh(first.cookie)
  t.is(reply.status, 200)
  t.is(
    reply.headers.getSetCookie()[0],
    `${cookieOf(reply)}; Path=/api/auth; Max-Age=${30 * day}; HttpOnly; SameSite=Strict`,
  )
  const { token, ...rest } = reply.body
  t.deepEqual(rest, { expires_in: 8 * 3600, user: { username, role: 'admin' } })
  t.deepEqual([await isLive(first.token), await isLive(String(token))], [true, true])
  t.not(cookieOf(reply), first.cookie)
  t.regex(cookieOf(reply), /^forge_refresh=[\w-]{43}$/)

  await demote()
  t.false(await isLive(String(token)))
  const demoted = await refresh(cookieOf(reply))
  t.deepEqual(demoted.body.user, { username, role: 'operator' })
  t.true(await isLive(String(demoted.body.token)))
})

test('a lost response is repeated for ten seconds, by every process and to every caller', async t => {
  const { signIn, refresh, later } = await serveSessions(t)
  const { cookie } = await signIn()
  const replies = await Promise.all(Array.from({ length: 10 }, () => refresh(cookie)))
  later(10)
  replies.push(await refresh(cookie))
  t.deepEqual([...new Set(replies.map(({ status }) => status))], [200])
  const successors = new Set(replies.map(cookieOf))
  t.is(successors.size, 1)
  t.is((await refresh([...successors][0] ?? '')).status, 200)
})

test('a spent token ends its family after ten seconds, with one event', async t => {
  const served = await serveSessions(t)
  const { signIn, refresh, later, isLive } = served
  const [stolen, other] = [await signIn(), await signIn()]
  const next = await refresh(stolen.cookie)
  later(10.001)
  t.is((await refresh(stolen.cookie)).status, 401)
  t.is((await refresh(stolen.cookie)).status, 401)
  t.is((await refresh(cookieOf(next))).status, 401)
  t.false(await isLive(stolen.token))
  t.false(await isLive(String(next.body.token)))
  t.true(await isLive(other.token), 'another session of the same person')
  t.deepEqual(await reuses(served), [{ username, via: 'refresh_token' }])
})

test('a spent token ends its family at once if its successor was used', async t => {
  const served = await serveSessions(t)
  const { signIn, refresh } = served
  const stolen = await signIn()
  const second = await refresh(stolen.cookie)
  const third = await refresh(cookieOf(second))
  t.is(third.status, 200)
  t.is((await refresh(stolen.cookie)).status, 401)
  t.is((await refresh(cookieOf(third))).status, 401)
  t.is((await reuses(served)).length, 1)
})

test('after any race within a family, one token still works, or none and an event is recorded', async t => {
  const served = await serveSessions(t)
  const { signIn, refresh } = served
  for (let round = 0; round < 5; round++) {
    const before = (await reuses(served)).length
    const { cookie } = await signIn()
    const second = cookieOf(await refresh(cookie))
    const raced = await Promise.all([cookie, second, cookie, second].map(one => refresh(one)))
    const heads = new Set(
      raced
        .filter(({ status }) => status === 200)
        .map(cookieOf)
        .filter(one => one !== second),
    )
    t.true(heads.size <= 1)
    const [head] = heads
    const goesOn = head !== undefined && (await refresh(head)).status === 200
    const ended = (await reuses(served)).length - before
    t.is(ended, goesOn ? 0 : 1)
  }
})

test('a family ends after thirty days, however often it was refreshed, and is deleted a day later', async t => {
  const env = { SERVICE_SESSION_IDLE_HOURS: '0' }
  const { signIn, refresh, later, pool } = await serveSessions(t, { env })
  const first = await signIn()
  later(30 * day - 3600)
  const late = await refresh(first.cookie)
  t.is(late.status, 200)
  t.regex(late.headers.getSetCookie()[0] ?? '', /; Max-Age=3600;/)
  t.is(late.body.expires_in, 3600, 'nor does its access token live longer')
  later(3600)
  t.is((await refresh(cookieOf(late))).status, 401)

  const rowsOf = async (table: string) => (await pool.query(`select 1 from auth.${table}`)).rowCount
  later(day)
  await signIn()
  t.deepEqual([await rowsOf('session'), await rowsOf('refresh_token')], [2, 3])
  later(1)
  await signIn()
  t.deepEqual([await rowsOf('session'), await rowsOf('refresh_token')], [2, 2])
})

test('pages of other sites cannot refresh, and invalid refresh tokens are refused', async t => {
  const { signIn, refresh } = await serveSessions(t)
  const { cookie, token } = await signIn()
  for (const origin of ['https://evil.example', 'null'])
    t.is((await refresh(cookie, { origin })).status, 403)
  const secret = cookie.replace('forge_refresh=', '')
  const others = ['', 'x', secret.slice(1), `${secret}a`, 'A'.repeat(43), "' or 1=1 --", token]
  for (const text of others) t.is((await refresh(`forge_refresh=${text}`)).status, 401)
  t.is((await refresh('', { authorization: `Bearer ${token}` })).status, 401)
  t.is((await refresh(cookie, { origin: 'http://forge.test' })).status, 200)
})

test('the database holds no refresh token, nor anything that suffices to derive one', async t => {
  const { signIn, refresh, pool } = await serveSessions(t)
  const { cookie } = await signIn()
  const next = await refresh(cookie)
  const { rows } = await pool.query(
    `select t::text as row from auth.refresh_token t union all select e::text from write.event e`,
  )
  t.true(rows.length >= 3)
  for (const { row } of rows)
    for (const text of [cookie, cookieOf(next)]) {
      const token = text.replace('forge_refresh=', '')
      t.false(row.includes(token))
      t.false(row.includes(Buffer.from(token, 'base64url').toString('hex')))
      t.false(row.includes(Buffer.from(token).toString('hex')))
      t.false(JSON.stringify(next.body).includes(token))
    }
})

const secureStages = {
  'the address people use': { env: { SERVICE_BASE_URL: 'https://forge.example' } },
  'the proxy': {
    env: { SERVICE_TRUSTED_PROXY_HOPS: '1' },
    headers: { 'x-forwarded-proto': 'https' },
  },
}
for (const [how, options] of Object.entries(secureStages))
  test(`when people connect over TLS, according to ${how}, the cookie is bound to it`, async t => {
    const { signIn, refresh } = await serveSessions(t, options)
    const { cookie } = await signIn()
    t.regex(cookie, /^__Secure-forge_refresh=/)
    const plain = cookie.replace('__Secure-', '')
    t.is((await refresh(plain)).status, 401, 'a cookie that anybody could have set')
    const reply = await refresh(cookie)
    t.is(reply.status, 200)
    t.regex(
      reply.headers.getSetCookie()[0] ?? '',
      /^__Secure-.*; HttpOnly; SameSite=Strict; Secure$/,
    )
  })
