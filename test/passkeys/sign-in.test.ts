import test from 'ava'
import { type Forge, startForge } from '../servers/forge.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'
import type { Lies } from './authenticator.ts'
import {
  begin,
  type Options,
  type Passkey,
  registered,
  type SignedIn,
  signIn,
} from './registered.ts'

const auditOf = async (forge: Forge, type: string) => {
  const { body } = await forge.call<{ summary: string }[]>('GET', `/api/audit?type=${type}`)
  return body.map(({ summary }) => summary)
}

test('a person registers a passkey, signs in with it alone, confirms with it and removes it', async t => {
  const forge = await startForge(t)
  const { authenticator, reply, credential } = await registered(forge)
  t.is(reply.status, 200)
  t.like(reply.body, { name: 'Laptop', last_used_at: null })
  t.regex(reply.body.passkey_id, /^pk_/)
  const again = await forge.call('POST', '/api/auth/passkeys', {
    body: { name: 'again', credential },
  })
  t.is(again.status, 400, 'a challenge is good for one response')

  const entered = await signIn(forge, authenticator.sign(await begin(forge)))
  t.is(entered.status, 200)
  t.is(entered.body.user.username, 'admin')
  t.regex(entered.headers.get('set-cookie') ?? '', /HttpOnly/i)
  const { token } = entered.body
  const { body: me } = await forge.call<{ token: { method: string } }>('GET', '/api/auth/me', {
    token,
  })
  t.is(me.token.method, 'passkey')
  const list = async () =>
    (await forge.call<Passkey[]>('GET', '/api/auth/passkeys', { token })).body
  t.is((await list()).length, 1)
  t.truthy((await list())[0]?.last_used_at)

  await forge.pool.query(`update auth.session set authenticated_at = now() - interval '1 hour'`)
  const remove = () =>
    forge.call('DELETE', `/api/auth/passkeys/${reply.body.passkey_id}`, { token })
  t.is((await remove()).status, 403, 'the sign-in is not recent')
  const asked = await forge.call<Options>('POST', '/api/auth/passkeys/confirm/options', { token })
  const proof = { credential: authenticator.sign(asked.body) }
  const confirmed = await forge.call('POST', '/api/auth/passkeys/confirm', { token, body: proof })
  t.is(confirmed.status, 200)
  t.is((await remove()).status, 200)
  t.is((await remove()).status, 404)
  t.is((await signIn(forge, authenticator.sign(await begin(forge)))).status, 401)
  t.deepEqual(await auditOf(forge, 'user.passkey_registered'), [
    'admin registered the passkey Laptop of admin',
  ])
  t.is((await auditOf(forge, 'user.passkey_removed')).length, 1)
})

test('every manipulated sign-in by passkey is refused in the same words', async t => {
  const forge = await startForge(t)
  const { authenticator } = await registered(forge)
  const eve = await signedIn(forge, 'eve')
  const { authenticator: eves } = await registered(forge, eve)
  const lies: Record<string, Lies> = {
    'another page': { origin: 'https://evil.example' },
    'another relying party': { rpId: 'evil.example' },
    'a person who was not verified': { isUserVerified: false },
    "another person's credential": { id: eves.id },
    "another person's handle": { userHandle: 'AAAA' },
    'an unknown credential': { id: 'c2FtcGxl' },
  }
  const bodies = new Set<string>()
  for (const [name, lie] of Object.entries(lies)) {
    const { status, body } = await signIn(forge, authenticator.sign(await begin(forge), lie))
    t.is(status, 401, name)
    bodies.add(JSON.stringify({ ...body, request_id: '' }))
  }
  t.is(bodies.size, 1)

  const used = authenticator.sign(await begin(forge))
  t.is((await signIn(forge, used)).status, 200)
  t.is((await signIn(forge, used)).status, 401, 'a replayed response')
  t.is((await signIn(forge, { ...used, id: 'x'.repeat(1401) })).status, 422)
})

test('a passkey whose count falls behind is refused, and the audit says so', async t => {
  const forge = await startForge(t)
  const { authenticator } = await registered(forge)
  t.is((await signIn(forge, authenticator.sign(await begin(forge), { count: 7 }))).status, 200)
  t.is((await signIn(forge, authenticator.sign(await begin(forge), { count: 7 }))).status, 401)
  t.is((await signIn(forge, authenticator.sign(await begin(forge), { count: 8 }))).status, 200)
  const [refused, ...more] = await auditOf(forge, 'user.passkey_refused')
  t.regex(refused ?? '', /of admin was refused, because its count fell behind/)
  t.deepEqual(more, [])
})

test('a challenge belongs to its session and expires, and a disabled person cannot use a passkey', async t => {
  const forge = await startForge(t)
  const eve = await signedIn(forge, 'eve')
  const { authenticator } = await registered(forge, eve)
  const confirmation = async (token: string) =>
    (await forge.call<Options>('POST', '/api/auth/passkeys/confirm/options', { token })).body
  const confirm = async (token: string, options: Options) =>
    (
      await forge.call('POST', '/api/auth/passkeys/confirm', {
        token,
        body: { credential: authenticator.sign(options) },
      })
    ).status
  t.is(await confirm(eve, await confirmation(forge.token)), 400, "another session's challenge")
  t.is(await confirm(forge.token, await confirmation(forge.token)), 400, 'not their passkey')
  t.is(await confirm(eve, await confirmation(eve)), 200)
  t.is((await signIn(forge, authenticator.sign(await confirmation(eve)))).status, 401)

  const late = await begin(forge)
  await forge.pool.query(`update auth.passkey_challenge set expires_at = now() - interval '1 s'`)
  t.is((await signIn(forge, authenticator.sign(late))).status, 401)
  const disabled = await forge.call('PATCH', '/api/admin/users/eve', { body: { disabled: true } })
  t.is(disabled.status, 200)
  t.is((await signIn(forge, authenticator.sign(await begin(forge)))).status, 401)
})

test('passkeys need a host name and https, or localhost', async t => {
  const forge = await startForge(t, { SERVICE_BASE_URL: 'http://192.0.2.1:8080' })
  const { status, body } = await forge.call('POST', '/api/auth/passkeys/options')
  t.is(status, 501)
  t.regex(JSON.stringify(body), /need a host name/)
  const plain = await startForge(t, { SERVICE_BASE_URL: 'http://forge.example' })
  t.is((await plain.call('POST', '/api/auth/passkeys/options')).status, 501)
})

test('recovering an account removes its passkeys', async t => {
  const forge = await startForge(t)
  const recoveries = [
    ['PATCH', '/api/admin/users/eve', { password: 'another password of eve' }],
    ['DELETE', '/api/admin/users/eve/second-factor', undefined],
  ] as const
  let eve = await signedIn(forge, 'eve')
  for (const [method, path, body] of recoveries) {
    const { authenticator } = await registered(forge, eve)
    t.is((await signIn(forge, authenticator.sign(await begin(forge)))).status, 200)
    t.is((await forge.call(method, path, body && { body })).status, 200)
    t.is((await signIn(forge, authenticator.sign(await begin(forge)))).status, 401, path)
    const login = { username: 'eve', password: 'another password of eve' }
    eve = (await forge.call<SignedIn>('POST', '/api/auth/login', { token: null, body: login })).body
      .token
  }
  const [, [method, path]] = recoveries
  t.is((await forge.call(method, path)).status, 409, 'there is nothing left')
})

test('a session has a second factor for as long as its person has a passkey', async t => {
  const forge = await startForge(t, { SERVICE_SECOND_FACTOR: 'everybody' })
  const becomes = (status: number) =>
    until(`reads are ${status}`, 20_000, async () => {
      const reply = await forge.call('GET', '/api/projects')
      return reply.status === status
    })
  await becomes(403)
  await forge.pool.query(
    `insert into auth.passkey values ('pk_1', '\\x01', 'admin', '\\x02', 0, 'Laptop', now(), null)`,
  )
  await becomes(200)
  await forge.pool.query('delete from auth.passkey')
  t.true(await becomes(403))
})
