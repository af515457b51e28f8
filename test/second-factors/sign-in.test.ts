import test, { type ExecutionContext } from 'ava'
import { sealedFor } from '../../command-api/second-factors/codes.ts'
import {
  password,
  type ServedSessions,
  serveSessions,
  username,
} from '../sessions/serve-sessions.ts'
import { codeAt, wrongCode } from './authenticator.ts'

const behindProxy = { env: { SERVICE_TRUSTED_PROXY_HOPS: '1' } }
const stepS = 30
let addresses = 0

/** A different address each time, because each has ten attempts a minute. */
function elsewhere() {
  addresses++
  return { 'x-forwarded-for': `10.3.${addresses >> 8}.${addresses & 255}` }
}

const signIn = ({ call }: ServedSessions, body: object) =>
  call<{ token: string; code: string }>('POST', '/api/auth/login', {
    body: { username, password, ...body },
    headers: elsewhere(),
  })

type Enrolled = { token: string; secret: string; recovery: string[] }

/** Signs in and sets up an authenticator; its code of the current step is used up. */
async function enroll(t: ExecutionContext, s: ServedSessions): Promise<Enrolled> {
  const { token } = (await signIn(s, {})).body
  const begun = await s.call<{ secret: string }>('POST', '/api/auth/totp', {
    token,
    body: { password },
  })
  t.is(begun.status, 200)
  const { secret } = begun.body
  const confirmed = await s.call<{ recovery_codes: string[] }>('POST', '/api/auth/totp/confirm', {
    token,
    body: { code: now(s, secret) },
  })
  t.is(confirmed.status, 200)
  return { token, secret, recovery: confirmed.body.recovery_codes }
}

const now = ({ deps }: ServedSessions, secret: string, steps = 0) =>
  codeAt(secret, deps.now().getTime() + steps * stepS * 1000)

const typesOf = async ({ pool }: ServedSessions) => {
  const { rows } = await pool.query<{ type: string }>(
    'select type from write.event order by position',
  )
  return rows.map(({ type }) => type)
}

const failures = async ({ pool }: ServedSessions) => {
  const { rows } = await pool.query(
    'select coalesce(sum(failures), 0)::integer as n from auth.sign_in_delay',
  )
  return rows[0].n
}

test('with a second factor the password alone is refused, and a code signs in once', async t => {
  const s = await serveSessions(t, behindProxy)
  const { secret } = await enroll(t, s)
  s.later(stepS)
  const alone = await signIn(s, {})
  t.like(alone, { status: 401, body: { code: 'second_factor.required' } })
  t.is(alone.headers.getSetCookie().length, 0)
  const code = now(s, secret)
  t.is((await signIn(s, { code })).status, 200)
  t.like(await signIn(s, { code }), { status: 401, body: { code: 'second_factor.wrong' } })
  // Nor is an earlier one, although it is within the drift.
  t.is((await signIn(s, { code: now(s, secret, -1) })).status, 401)
  t.is((await signIn(s, { code: now(s, secret, 1) })).status, 200)
})

test('a code is accepted one step early and one step late, and no further', async t => {
  const s = await serveSessions(t, behindProxy)
  const { secret } = await enroll(t, s)
  s.later(10 * stepS)
  for (const [steps, status] of [
    [-2, 401],
    [2, 401],
    [-1, 200],
    [1, 200],
  ] as const)
    t.is((await signIn(s, { code: now(s, secret, steps) })).status, status, String(steps))
})

test('of the same code twice at the same time, one signs in', async t => {
  const s = await serveSessions(t, behindProxy)
  const { secret, recovery } = await enroll(t, s)
  s.later(stepS)
  for (const code of [now(s, secret), recovery[0]]) {
    const replies = await Promise.all([1, 2, 3, 4].map(() => signIn(s, { code })))
    t.deepEqual(replies.map(({ status }) => status).sort(), [200, 401, 401, 401])
  }
})

test('a recovery code signs in once, is recorded, and is not stored', async t => {
  const s = await serveSessions(t, behindProxy)
  const { recovery } = await enroll(t, s)
  t.is(recovery.length, 10)
  const [code = ''] = recovery
  t.is((await signIn(s, { code: code.toUpperCase().replaceAll('-', ' ') })).status, 200)
  t.like(await signIn(s, { code }), { status: 401, body: { code: 'second_factor.wrong' } })
  t.deepEqual((await typesOf(s)).slice(-2), ['user.login', 'user.recovery_code_used'])
  const { rows } = await s.pool.query(`select * from auth.recovery_code`)
  t.is(rows.length, 9)
  t.false(JSON.stringify(rows).includes(code.replaceAll('-', '')))
})

test('a wrong code counts like a wrong password, and the right password without a code does not', async t => {
  const s = await serveSessions(t, behindProxy)
  const { secret } = await enroll(t, s)
  s.later(stepS)
  const before = await failures(s)
  for (let attempt = 0; attempt < 3; attempt++) t.is((await signIn(s, {})).status, 401)
  t.is(await failures(s), before)
  const code = wrongCode(secret, s.deps.now().getTime())
  for (let attempt = 0; attempt < 5; attempt++)
    t.like(await signIn(s, { code }), { status: 401, body: { code: 'second_factor.wrong' } })
  t.is(await failures(s), before + 5)
  // From the sixth on, attempts are held, also with the right code.
  const began = performance.now()
  t.is((await signIn(s, { code: now(s, secret) })).status, 200)
  t.true(performance.now() - began >= 990)
  const { rows } = await s.pool.query(
    `select count from auth.failed_login where is_account and subject = $1`,
    [username],
  )
  t.deepEqual(rows, [{ count: 5 }])
})

test('after a hundred wrong codes in a row only a recovery code signs in, and resets the count', async t => {
  const s = await serveSessions(t, behindProxy)
  const { secret, recovery } = await enroll(t, s)
  s.later(stepS)
  await s.pool.query('update auth.totp set wrong_codes = 98')
  const wrong = () => wrongCode(secret, s.deps.now().getTime())
  t.is((await signIn(s, { code: wrong() })).status, 401)
  t.is((await signIn(s, { code: now(s, secret) })).status, 200, 'a right one resets it, too')
  await s.pool.query('update auth.totp set wrong_codes = 99')
  t.is((await signIn(s, { code: wrong() })).body.code, 'second_factor.wrong')
  s.later(stepS)
  t.like(await signIn(s, { code: now(s, secret) }), {
    status: 401,
    body: { code: 'second_factor.locked' },
  })
  t.is((await signIn(s, {})).body.code, 'second_factor.required')
  t.is((await signIn(s, { code: recovery[0] })).status, 200)
  t.is((await signIn(s, { code: now(s, secret) })).status, 200)
})

test('a wrong password gets the same response with a right code, a wrong one and none', async t => {
  const s = await serveSessions(t, behindProxy)
  const { secret, recovery } = await enroll(t, s)
  s.later(stepS)
  const bodies: object[] = [{}, { code: now(s, secret) }, { code: '000000' }, { code: recovery[0] }]
  const replies = []
  for (const body of bodies)
    replies.push(await signIn(s, { ...body, password: 'not the password' }))
  const said = replies.map(({ status, body }) =>
    JSON.stringify([status, { ...body, request_id: 0 }]),
  )
  t.is(new Set(said).size, 1, said.join('\n'))
  t.is((await signIn(s, { code: now(s, secret) })).status, 200, 'no code was spent')
})

test('a code does no harm without a second factor', async t => {
  const s = await serveSessions(t, behindProxy)
  t.is((await signIn(s, { code: '123456' })).status, 200)
})

test('setting it up takes the password and a code of the authenticator, and ends the other sessions', async t => {
  const s = await serveSessions(t, behindProxy)
  const other = (await signIn(s, {})).body.token
  const { token } = (await signIn(s, {})).body
  const post = (path: string, body: object) =>
    s.call<{ code: string; secret: string }>('POST', path, { token, body, headers: elsewhere() })
  const wrong = await post('/api/auth/totp', { password: 'not the password' })
  t.like(wrong, { status: 401, body: { code: 'password.wrong' } })
  t.is((await post('/api/auth/totp/confirm', { code: '123456' })).status, 409, 'nothing was begun')

  const abandoned = (await post('/api/auth/totp', { password })).body.secret
  const { secret } = (await post('/api/auth/totp', { password })).body
  t.not(secret, abandoned)
  t.is((await signIn(s, {})).status, 200, 'not needed before it is confirmed')
  const at = s.deps.now().getTime()
  const refused = await post('/api/auth/totp/confirm', { code: wrongCode(secret, at) })
  t.like(refused, { status: 400, body: { code: 'second_factor.wrong' } })
  t.is((await post('/api/auth/totp/confirm', { code: now(s, abandoned) })).status, 400)

  s.later(16 * 60)
  t.is((await post('/api/auth/totp/confirm', { code: now(s, secret) })).status, 409, 'too late')
  t.is((await post('/api/auth/totp', { password })).body.code, 'sign_in_again')
  t.is((await post('/api/auth/confirm', { password })).status, 200)
  const again = (await post('/api/auth/totp', { password })).body.secret
  t.is((await post('/api/auth/totp/confirm', { code: now(s, again) })).status, 200)
  t.true(await s.isLive(token))
  t.false(await s.isLive(other))
  t.is((await signIn(s, { code: now(s, again) })).status, 401, 'that code is spent')
  t.is((await post('/api/auth/totp/confirm', { code: now(s, again) })).status, 409)
})

test('another authenticator takes the place of the first once its code is confirmed, with new recovery codes', async t => {
  const s = await serveSessions(t, behindProxy)
  const { token, secret, recovery } = await enroll(t, s)
  const post = (path: string, body: object) =>
    s.call<{ secret: string; recovery_codes: string[] }>('POST', path, {
      token,
      body,
      headers: elsewhere(),
    })
  const next = (await post('/api/auth/totp', { password })).body.secret
  s.later(stepS)
  t.is((await signIn(s, { code: now(s, secret) })).status, 200, 'the first one is still in use')
  const confirmed = await post('/api/auth/totp/confirm', { code: now(s, next) })
  t.is(confirmed.status, 200)
  s.later(stepS)
  t.is((await signIn(s, { code: now(s, secret) })).status, 401)
  t.is((await signIn(s, { code: now(s, next) })).status, 200)
  t.is((await signIn(s, { code: recovery[0] })).status, 401)
  t.is((await signIn(s, { code: confirmed.body.recovery_codes[0] })).status, 200)
})

test('the database and the events alone reveal no secret', async t => {
  const s = await serveSessions(t, behindProxy)
  const { secret } = await enroll(t, s)
  const { rows } = await s.pool.query<{ sealed: string }>('select sealed from auth.totp')
  t.false(rows[0]?.sealed.includes(secret))
  t.false(
    JSON.stringify((await s.pool.query('select data from write.event')).rows).includes(secret),
  )
  t.is(await s.deps.sealing.open(rows[0]?.sealed ?? '', sealedFor('somebody else')), null)
})

test('a secret that cannot be opened any more lets nobody in, but recovery codes do', async t => {
  const s = await serveSessions(t, behindProxy)
  const { secret, recovery } = await enroll(t, s)
  s.later(stepS)
  await s.pool.query(`update auth.totp set sealed = 'of another key'`)
  t.like(await signIn(s, { code: now(s, secret) }), {
    status: 401,
    body: { code: 'second_factor.wrong' },
  })
  t.is((await signIn(s, { code: recovery[0] })).status, 200)
})

test('a person with a second factor confirms a session only with both', async t => {
  const s = await serveSessions(t)
  const { token, secret, recovery } = await enroll(t, s)
  const confirm = async (body: object) => {
    const { status, body: reply } = await s.call<{ code?: string }>('POST', '/api/auth/confirm', {
      token,
      body: { password, ...body },
    })
    return reply.code ?? status
  }
  t.is(await confirm({}), 'second_factor.required')
  t.is(await confirm({ code: wrongCode(secret, s.deps.now().getTime()) }), 'second_factor.wrong')
  t.is(await confirm({ password: 'a wrong password', code: recovery[0] }), 'password.wrong')
  t.is(await confirm({ code: recovery[0] }), 200)
  t.is(await confirm({ code: recovery[0] }), 'second_factor.wrong', 'a code is spent')
  t.is(await confirm({ code: now(s, secret, 1) }), 200)
  const types = await typesOf(s)
  t.is(types.filter(type => type === 'user.session_confirmed').length, 2)
  t.is(types.filter(type => type === 'user.recovery_code_used').length, 1)
})
