import test from 'ava'
import { sha256 } from '../../auth/opaque-token.ts'
import { deviceCodeReactor } from '../../command-api/devices/delete-expired.ts'
import { record } from '../../command-api/effects/outcome.ts'
import { type ServedDevices, serveDevices } from './serve-devices.ts'

const askCode = async ({ call }: ServedDevices, headers = {}) => {
  const { body } = await call('POST', '/api/cli/device/code', { body: {}, headers })
  return { device_code: String(body.device_code), user_code: String(body.user_code) }
}
const poll = ({ call }: ServedDevices, device_code: string) =>
  call('POST', '/api/cli/device/token', { body: { device_code } })

test('a code names the page that approves it and is stored only as a hash', async t => {
  const { call, pool } = await serveDevices(t)
  const { status, headers, body } = await call('POST', '/api/cli/device/code', { body: {} })
  t.is(status, 200)
  t.is(headers.get('cache-control'), 'no-store')
  const { device_code, user_code, ...rest } = body
  t.regex(String(device_code), /^[\w-]{43}$/)
  t.regex(String(user_code), /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/)
  t.deepEqual(rest, {
    verification_uri: 'http://forge.test/device',
    verification_uri_complete: `http://forge.test/device?user_code=${user_code}`,
    expires_in: 900,
    interval: 5,
  })
  const { rows } = await pool.query('select row_to_json(d)::text as stored from auth.device_code d')
  t.is(rows.length, 1)
  t.false(rows[0].stored.includes(String(device_code)))
  t.is((await call('POST', '/api/cli/device/code')).status, 200, 'a missing body counts as {}')
})

test('a program polls until a person approves, and gets their token once', async t => {
  const s = await serveDevices(t)
  const { token } = await s.signIn('ada')
  const { device_code, user_code } = await askCode(s)
  const pending = await poll(s, device_code)
  t.is(pending.status, 400)
  t.like(pending.body, { detail: 'authorization_pending', error: 'authorization_pending' })

  const typed = user_code.toLowerCase().replace('-', '')
  const approved = await s.call('POST', `/api/cli/device/${typed}/approve`, { token })
  t.is(approved.status, 200)
  t.like(approved.body, { user_code, state: 'approved' })
  const fetched = await poll(s, device_code)
  t.is(fetched.status, 200)
  t.is(fetched.headers.get('cache-control'), 'no-store')
  t.regex(
    fetched.headers.get('set-cookie') ?? '',
    /^forge_refresh=[\w-]{43}; Path=\/api\/auth; Max-Age=2592000; HttpOnly; SameSite=Strict$/,
  )
  const { access_token, ...rest } = fetched.body
  t.deepEqual(rest, {
    token: access_token,
    token_type: 'Bearer',
    expires_in: 8 * 3600,
    user: { username: 'ada', role: 'operator' },
  })
  // The token works, and in a separate session.
  const mine = await s.call('GET', `/api/cli/device/${user_code}`, { token: String(access_token) })
  t.like(mine.body, { state: 'consumed' })
  const { rows } = await s.pool.query(
    `select (select count(*) from auth.session where via = 'device') as sessions,
            (select count(*) from auth.refresh_token join auth.session using (sid)
              where via = 'device') as refresh_tokens`,
  )
  t.deepEqual(rows, [{ sessions: 1, refresh_tokens: 1 }])

  s.later(5)
  const again = await poll(s, device_code)
  t.is(again.status, 400)
  t.like(again.body, { detail: 'expired_token', error: 'expired_token' })
})

test('a page of another site cannot fetch a token, and with it its cookie', async t => {
  const s = await serveDevices(t)
  const { token } = await s.signIn('ada')
  const { device_code, user_code } = await askCode(s)
  await s.call('POST', `/api/cli/device/${user_code}/approve`, { token })
  const headers = { origin: 'https://elsewhere.example' }
  const foreign = await s.call('POST', '/api/cli/device/token', { body: { device_code }, headers })
  t.is(foreign.status, 403)
  t.is(foreign.headers.get('set-cookie'), null)
  t.is((await poll(s, device_code)).status, 200)
})

test('one of ten concurrent polls gets the token', async t => {
  const s = await serveDevices(t)
  const { token } = await s.signIn('ada')
  const { device_code, user_code } = await askCode(s)
  await s.call('POST', `/api/cli/device/${user_code}/approve`, { token })
  const answers = await Promise.all(Array.from({ length: 10 }, () => poll(s, device_code)))
  const statuses = answers.map(answer => answer.status).sort()
  t.deepEqual(statuses, [200, ...Array(9).fill(400)])
  const { rows } = await s.pool.query(`select 1 from auth.session where via = 'device'`)
  t.is(rows.length, 1)
})

test('one of ten concurrent polls is on time, and the others must slow down', async t => {
  const s = await serveDevices(t)
  const { device_code } = await askCode(s)
  const answers = await Promise.all(Array.from({ length: 10 }, () => poll(s, device_code)))
  const slowed = answers.filter(answer => answer.status === 429)
  t.is(slowed.length, 9)
  for (const { body, headers } of slowed) {
    t.like(body, { detail: 'slow_down', error: 'slow_down', interval: 10 })
    t.is(headers.get('retry-after'), '10')
  }
  s.later(9)
  t.is((await poll(s, device_code)).status, 429)
  s.later(1)
  t.is((await poll(s, device_code)).status, 400)
})

test('a denied code is refused, an expired or unknown one has expired', async t => {
  const s = await serveDevices(t)
  const { token } = await s.signIn('ada')
  const denied = await askCode(s)
  await s.call('POST', `/api/cli/device/${denied.user_code}/deny`, { token })
  const late = await askCode(s)
  const wanted: [string, string][] = [
    [denied.device_code, 'access_denied'],
    ['nothing-like-it', 'expired_token'],
  ]
  for (const [code, error] of wanted) {
    const { status, body } = await poll(s, code)
    t.is(status, 400)
    t.like(body, { detail: error, error })
  }
  s.later(900)
  t.like((await poll(s, late.device_code)).body, { error: 'expired_token' })
  const approve = await s.call('POST', `/api/cli/device/${late.user_code}/approve`, { token })
  t.is(approve.status, 409)
  t.regex(String(approve.body.detail), /expired/)
  const shown = await s.call('GET', `/api/cli/device/${late.user_code}`, { token })
  t.like(shown.body, { state: 'expired' })
})

test('an approval ends with the session that gave it, and with the person', async t => {
  const s = await serveDevices(t)
  const [ada, bob] = await Promise.all([s.signIn('ada'), s.signIn('bob')])
  const [first, second] = await Promise.all([askCode(s), askCode(s)])
  await s.call('POST', `/api/cli/device/${first.user_code}/approve`, { token: ada.token })
  await s.call('POST', `/api/cli/device/${second.user_code}/approve`, { token: bob.token })
  await ada.end()
  await s.pool.query(`update auth.person set disabled = true where username = 'bob'`)
  for (const { device_code } of [first, second]) {
    const { status, body } = await poll(s, device_code)
    t.is(status, 400)
    t.like(body, { detail: 'access_denied', error: 'access_denied' })
  }
  t.is((await s.pool.query(`select 1 from auth.session where via = 'device'`)).rowCount, 0)
})

test('a person sees the requester before deciding', async t => {
  const s = await serveDevices(t)
  const { token } = await s.signIn('ada')
  const { user_code } = await askCode(s, { 'user-agent': `forge-cli/1.0 ${'x'.repeat(500)}` })
  const { status, body } = await s.call('GET', `/api/cli/device/${user_code}`, { token })
  t.is(status, 200)
  const { user_agent, ...rest } = body
  t.deepEqual(rest, {
    user_code,
    requested_ip: '127.0.0.1',
    requested_at: '2026-11-20T19:26:53+00:00',
    expires_at: '2026-11-20T19:41:53+00:00',
    state: 'pending',
  })
  t.regex(String(user_agent), /^forge-cli\/1\.0 x+$/)
  t.is(String(user_agent).length, 256)
  t.is((await s.call('GET', `/api/cli/device/${user_code}`)).status, 401)
})

test('each decision is an event of the person, with their way of signing in', async t => {
  const s = await serveDevices(t)
  const { token } = await s.signIn('ada')
  const [yes, no] = await Promise.all([askCode(s), askCode(s)])
  await s.call('POST', `/api/cli/device/${yes.user_code}/approve`, { token })
  await s.call('POST', `/api/cli/device/${yes.user_code}/approve`, { token })
  await s.call('POST', `/api/cli/device/${no.user_code}/deny`, { token })
  const { rows } = await s.pool.query(
    `select type, data->>'username' as username, meta->'actor' as actor, data::text || meta::text as all
       from write.event where stream like 'device-%' order by position`,
  )
  const actor = { type: 'user', id: 'ada', via: 'test' }
  t.deepEqual(
    rows.map(({ all: _, ...row }) => row),
    [
      { type: 'user.device_approved', username: 'ada', actor },
      { type: 'user.device_denied', username: 'ada', actor },
    ],
  )
  for (const { all } of rows)
    for (const { device_code, user_code } of [yes, no])
      t.false(all.includes(device_code) || all.includes(user_code))
})

test('after five wrong codes within a minute, concurrent or not, even the right one is refused', async t => {
  const s = await serveDevices(t)
  const [ada, bob] = await Promise.all([s.signIn('ada'), s.signIn('bob')])
  const { user_code } = await askCode(s)
  const path = `/api/cli/device/${user_code}`
  for (let look = 0; look < 10; look++)
    t.is(
      (await s.call('GET', path, { token: ada.token })).status,
      200,
      'a correct code is not counted as a guess',
    )
  const guess = (code: string) => s.call('GET', `/api/cli/device/${code}`, { token: ada.token })
  const codes = Array.from({ length: 20 }, (_, n) => `BBBB-BBB${'BCDFGHJKLMNPQRSTVWXZ'[n]}`)
  const statuses = (await Promise.all(codes.map(guess))).map(answer => answer.status)
  t.is(statuses.filter(status => status === 404).length, 5)
  t.is(statuses.filter(status => status === 429).length, 15)
  const right = await s.call('POST', `${path}/approve`, { token: ada.token })
  t.is(right.status, 429)
  t.is(right.headers.get('retry-after'), '60')
  t.is((await s.call('GET', path, { token: bob.token })).status, 200)
  s.later(60)
  t.is((await s.call('POST', `${path}/approve`, { token: ada.token })).status, 200)
})

test('codes are deleted within an hour of their expiry, decided or not', async t => {
  const s = await serveDevices(t)
  const { token } = await s.signIn('ada')
  const [decided, undecided] = [await askCode(s), await askCode(s)]
  await s.call('POST', `/api/cli/device/${decided.user_code}/approve`, { token })
  s.later(899)
  const fresh = await askCode(s)
  const performEveryHour = async () => {
    t.is(deviceCodeReactor.every?.seconds, 3600)
    const duty = { duty_id: 'd', payload: {}, attempt: 1, due_at: s.deps.now() }
    const outcome = await deviceCodeReactor.perform(duty, s.deps, new AbortController().signal)
    const cause = { actor: { type: 'system', id: 'test', via: 'test' }, requestId: 'test' } as const
    await record(s.deps, cause, { outcome, unless: async () => false })
    const { rows } = await s.pool.query('select user_code from auth.device_code')
    return rows.map(row => row.user_code).sort()
  }
  const all = [decided, undecided, fresh].map(({ user_code }) => user_code).sort()
  t.deepEqual(await performEveryHour(), all)
  s.later(1)
  t.deepEqual(await performEveryHour(), [fresh.user_code])
})

test('at most twenty codes per network and a thousand in all wait; beyond that the oldest ends', async t => {
  const s = await serveDevices(t, { SERVICE_TRUSTED_PROXY_HOPS: '1' })
  const from = (address: string) => askCode(s, { 'x-forwarded-for': address })
  const isWaiting = async ({ device_code }: { device_code: string }) => {
    const { rowCount } = await s.pool.query(
      'select 1 from auth.device_code where device_sha256 = $1',
      [sha256(device_code)],
    )
    return rowCount === 1
  }
  const oldest = await from('2001:db8:0:1::1')
  s.later(1)
  const second = await from('2001:db8:0:2::1')
  s.later(1)
  await Promise.all(Array.from({ length: 18 }, (_, n) => from(`2001:db8:0:${n + 3}::1`)))
  t.true(await isWaiting(oldest))
  await from('2001:db8:0:ff::1')
  t.false(await isWaiting(oldest), 'addresses of one /56 are one network')
  t.true(await isWaiting(second))
  await from('2001:db8:0:100::1')
  t.true(await isWaiting(second), 'another network')
  await s.pool.query(
    `insert into auth.device_code
       (device_id, device_sha256, user_code, requested_ip, user_agent, requested_at, expires_at, network)
     select 'x' || n, sha256(n::text::bytea), 'x' || n, '', '', $1, $1, 'net ' || n
       from generate_series(1, 979) n`,
    [s.deps.now()],
  )
  t.true(await isWaiting(second))
  s.later(1)
  await from('10.0.0.1')
  t.false(await isWaiting(second), 'the thousand and first')
  await Promise.all(Array.from({ length: 30 }, (_, n) => from(`10.0.1.${n}`)))
  const { rows } = await s.pool.query('select count(*)::integer as n from auth.device_code')
  t.is(rows[0].n, 1000)
})

test('only a sign-in from the last 15 minutes can approve a code, and never a session that came from a code', async t => {
  const s = await serveDevices(t)
  const approve = async (token: string) => {
    const code = await askCode(s)
    const path = `/api/cli/device/${code.user_code}/approve`
    return { code, answer: await s.call('POST', path, { token }) }
  }
  const { token } = await s.signIn('ada')
  s.later(900)
  const { code } = await approve(token)
  const fetched = await poll(s, code.device_code)
  const fromDevice = (await approve(String(fetched.body.token))).answer
  t.is(fromDevice.status, 403)
  t.is(fromDevice.body.code, 'device.from_device')
  s.later(1)
  const late = (await approve(token)).answer
  t.is(late.status, 403)
  t.is(late.body.code, 'sign_in_again')
  t.is((await approve((await s.signIn('ada')).token)).answer.status, 200)
  const denied = await askCode(s)
  const deny = await s.call('POST', `/api/cli/device/${denied.user_code}/deny`, { token })
  t.is(deny.status, 200, 'denying needs no new sign-in')
})

test("a device's session ends after 30 days at most, and with the account of its approver", async t => {
  const s = await serveDevices(t, { SERVICE_JWT_HOURS: '720' })
  const { token } = await s.signIn('ada')
  const { device_code, user_code } = await askCode(s)
  await s.call('POST', `/api/cli/device/${user_code}/approve`, { token })
  const device = String((await poll(s, device_code)).body.token)
  const { rows } = await s.pool.query(
    `select username, extract(day from expires_at - created_at)::integer as days
       from auth.session where via = 'device'`,
  )
  t.deepEqual(rows, [{ username: 'ada', days: 30 }])
  const look = () => s.call('GET', `/api/cli/device/${user_code}`, { token: device })
  t.is((await look()).status, 200)
  await s.pool.query(`update auth.person set disabled = true where username = 'ada'`)
  s.accessChanged('ada')
  t.is((await look()).status, 401)
})

test('a malformed device code is reported at its field, without its value', async t => {
  const { call } = await serveDevices(t)
  const missing = await call('POST', '/api/cli/device/token', { body: {} })
  t.is(missing.status, 422)
  t.like((missing.body.detail as object[])[0] ?? {}, {
    loc: ['body', 'device_code'],
    type: 'missing',
  })
  const long = await call('POST', '/api/cli/device/token', {
    body: { device_code: 'q'.repeat(300) },
  })
  t.is(long.status, 422)
  t.false(JSON.stringify(long.body).includes('qqq'))
})

test('an address polls twenty times a minute, with any codes', async t => {
  const s = await serveDevices(t)
  const codes = await Promise.all(Array.from({ length: 21 }, () => askCode(s)))
  const statuses = await Promise.all(
    codes.map(async ({ device_code }) => (await poll(s, device_code)).status),
  )
  t.deepEqual(statuses.sort(), [...Array(20).fill(400), 429])
})
