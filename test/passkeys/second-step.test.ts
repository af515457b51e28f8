import test from 'ava'
import { nextCode } from '../second-factors/authenticator.ts'
import { adminPassword, passwordOf } from '../servers/api.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { eventsOf, signedIn } from '../servers/signed-in.ts'
import { begin, type Options, registered, signIn } from './registered.ts'

type Refused = {
  token: string
  code: string
  data: { methods: string[]; passkey: Options }
}

/** Each has ten attempts a minute. */
const behindProxy = { SERVICE_TRUSTED_PROXY_HOPS: '1' }
let addresses = 0
const elsewhere = () => ({ 'x-forwarded-for': `10.4.0.${++addresses}` })

const login = (
  forge: Forge,
  more: object = {},
  who = { username: 'admin', password: adminPassword },
) =>
  forge.call<Refused>('POST', '/api/auth/login', {
    token: null,
    headers: elsewhere(),
    body: { ...who, ...more },
  })

const statusOf = async (reply: Promise<{ status: number }>) => (await reply).status

test('after the password, a person with a passkey alone is asked for it, and a challenge is good for one response', async t => {
  const forge = await startForge(t, behindProxy)
  const { authenticator } = await registered(forge)
  const alone = await login(forge)
  t.like(alone, { status: 401, body: { code: 'second_factor.required' } })
  t.deepEqual(alone.body.data.methods, ['passkey'])
  t.is(alone.headers.getSetCookie().length, 0)

  const passkey = authenticator.sign(alone.body.data.passkey)
  t.is(await statusOf(signIn(forge, passkey)), 401, 'not without the password')
  const wrong = { username: 'admin', password: 'not the password' }
  const unknown = await login(forge, { passkey }, wrong)
  t.is(unknown.status, 401)
  t.is(unknown.body.code, 'unauthenticated', 'a wrong password is not said to need a passkey')
  t.is(await statusOf(login(forge, { passkey })), 200)
  const again = await login(forge, { passkey })
  t.like(again, { status: 401, body: { code: 'second_factor.wrong' } })
  const free = authenticator.sign(await begin(forge))
  t.is(await statusOf(login(forge, { passkey: free })), 401, 'a challenge of nobody')
  t.is(await statusOf(login(forge, { code: '123456' })), 401, 'no authenticator is set up')
})

test('a passkey of somebody else, or an invalid response, counts as a failed attempt', async t => {
  const forge = await startForge(t, behindProxy)
  const { authenticator } = await registered(forge)
  const eve = await signedIn(forge, 'eve')
  const { authenticator: eves } = await registered(forge, eve)
  const who = { username: 'eve', password: passwordOf('eve') }
  const failures = async () =>
    (
      await forge.pool.query(
        'select coalesce(sum(failures), 0)::integer as n from auth.sign_in_delay',
      )
    ).rows[0].n
  const before = await failures()
  const ask = async () => (await login(forge)).body.data.passkey
  const options = (await login(forge, {}, who)).body.data.passkey
  t.is(await failures(), before, 'a right password without a passkey is none')
  const attempts = [
    eves.sign(await ask()),
    authenticator.sign(options),
    eves.sign(options),
    authenticator.sign(await ask(), { origin: 'https://evil.example' }),
    authenticator.sign(await ask(), { isUserVerified: false }),
  ]
  for (const passkey of attempts) {
    const reply = await login(forge, { passkey })
    t.like(reply, { status: 401, body: { code: 'second_factor.wrong' } })
  }
  t.is(await failures(), before + attempts.length)
})

test('the first passkey ends other sessions and comes with recovery codes, which sign in once', async t => {
  const forge = await startForge(t, behindProxy)
  const other = (await login(forge)).body.token
  const { reply } = await registered(forge)
  t.is(reply.body.recovery_codes.length, 10)
  t.is(await statusOf(forge.call('GET', '/api/projects', { token: other })), 401)
  t.is(await statusOf(forge.call('GET', '/api/projects')), 200)
  const [code = ''] = reply.body.recovery_codes
  const entered = await login(forge, { code })
  t.is(entered.status, 200)
  t.is(await statusOf(login(forge, { code })), 401)
  const second = await registered(forge, forge.token, 'Phone')
  t.deepEqual(second.reply.body.recovery_codes, [], 'nine are left')
  t.is(await statusOf(forge.call('GET', '/api/projects', { token: entered.body.token })), 200)

  for (const { body } of [reply, second.reply])
    t.is(await statusOf(forge.call('DELETE', `/api/auth/passkeys/${body.passkey_id}`)), 200)
  const { rows } = await forge.pool.query('select count(*)::integer as n from auth.recovery_code')
  t.deepEqual(rows, [{ n: 0 }], 'they go with the last factor')
  t.is(await statusOf(login(forge)), 200)
})

test('with an authenticator and a passkey, either is accepted, for signing in and for confirming', async t => {
  const forge = await startForge(t, behindProxy)
  const { authenticator } = await registered(forge)
  const begun = await forge.call<{ secret: string }>('POST', '/api/auth/totp', {
    body: { password: adminPassword },
  })
  const code = nextCode(begun.body.secret)
  t.is(await statusOf(forge.call('POST', '/api/auth/totp/confirm', { body: { code } })), 200)
  const asked = await login(forge)
  t.deepEqual(asked.body.data.methods, ['totp', 'passkey'])
  t.is(await statusOf(login(forge, { passkey: authenticator.sign(asked.body.data.passkey) })), 200)

  const confirm = (body: object) =>
    forge.call<Refused>('POST', '/api/auth/confirm', {
      body: { password: adminPassword, ...body },
      headers: elsewhere(),
    })
  await forge.pool.query(`update auth.session set authenticated_at = now() - interval '1 hour'`)
  const needed = await confirm({})
  t.like(needed, { status: 401, body: { code: 'second_factor.required' } })
  const passkey = authenticator.sign(needed.body.data.passkey)
  t.is(await statusOf(login(forge, { passkey })), 401, 'the challenge of a session signs nobody in')
  const fresh = authenticator.sign((await confirm({})).body.data.passkey)
  t.is(await statusOf(confirm({ passkey: fresh })), 200)
  t.is(await statusOf(forge.call('POST', '/api/auth/passkeys/options')), 200, 'recent again')
  t.is(await statusOf(confirm({ passkey: fresh })), 401)
})

test('where everybody needs a second factor, a passkey registered first gives a full session, and the last stays', async t => {
  const forge = await startForge(t, { ...behindProxy, SERVICE_SECOND_FACTOR: 'everybody' })
  t.is(await statusOf(forge.call('GET', '/api/projects')), 403)
  const { authenticator, reply } = await registered(forge)
  t.is(reply.status, 200)
  t.is(await statusOf(forge.call('GET', '/api/projects')), 200, 'at once')
  const me = await forge.call<{ second_factor: object }>('GET', '/api/auth/me')
  t.like(me.body.second_factor, { passkeys: 1, must_set_up: false, set_up_at: null })
  const { data } = (await login(forge)).body
  const entered = await login(forge, { passkey: authenticator.sign(data.passkey) })
  const { token } = entered.body
  t.is(await statusOf(forge.call('GET', '/api/projects', { token })), 200)

  const remove = (id: string) => forge.call('DELETE', `/api/auth/passkeys/${id}`)
  const last = await remove(reply.body.passkey_id)
  t.like(last, { status: 409, body: { code: 'second_factor.last' } })
  const { reply: second } = await registered(forge, forge.token, 'Phone')
  const replies = await Promise.all([remove(reply.body.passkey_id), remove(second.body.passkey_id)])
  t.deepEqual(replies.map(({ status }) => status).sort(), [200, 409], 'one of two at once')
  const types = (await eventsOf(forge, 'admin')).map(({ type }) => type)
  t.is(types.filter(type => type === 'user.passkey_removed').length, 1)
})

test('with an address without passkeys, their people need a recovery code, and the password alone does not suffice', async t => {
  const forge = await startForge(t, { ...behindProxy, SERVICE_BASE_URL: 'http://192.0.2.1:8080' })
  await forge.pool.query(
    `insert into auth.passkey values ('pk_1', '\\x01', 'admin', '\\x02', 0, 'Laptop', now(), null)`,
  )
  const { status, body } = await login(forge)
  t.is(status, 401)
  t.deepEqual(body.data, { methods: ['passkey'], passkey: null })
})

test('administrators who reset their own password keep their passkeys', async t => {
  const forge = await startForge(t, behindProxy)
  await registered(forge)
  const password = 'another walnut, another lantern'
  const reset = await forge.call('PATCH', '/api/admin/users/admin', { body: { password } })
  t.is(reset.status, 200)
  const alone = await login(forge, {}, { username: 'admin', password })
  t.like(alone, { status: 401, body: { code: 'second_factor.required' } })
})
