import test from 'ava'
import { openProviderToken, sealProviderToken } from '../../auth/provider-token.ts'
import { roleAtRefresh } from '../../command-api/oidc/decide.ts'
import { signInAs, startWithRealProvider, type WithProvider } from './provider.ts'
import type { Visitor } from './visitor.ts'

type Refreshed = { token: string; user: { username: string; role: string } }

async function refreshed(visitor: Visitor, base: string) {
  const answer = await visitor.post(`${base}/api/auth/refresh`, {})
  return { status: answer.status, body: (await answer.json()) as Refreshed }
}

/** Simulates that a minute or some hours have passed since the provider was asked. */
const later = ({ forge }: WithProvider, hours: number) =>
  forge.pool.query(
    `update auth.session set asked_at = null, confirmed_at = confirmed_at - make_interval(hours => $1)`,
    [hours],
  )

const staff = { preferred_username: 'ada', groups: ['staff'] }
const boss = { preferred_username: 'ada', groups: ['staff', 'forge-admins'] }

test.serial(
  'a person who leaves the admin group becomes an operator at the next refresh; a person who leaves altogether is signed out',
  async t => {
    const s = await startWithRealProvider(t, { givesRefreshTokens: true })
    const { forge, base, people, goAway } = s
    people.set('u-1', boss)
    const { visitor } = await signInAs(base, 'u-1')
    const first = await refreshed(visitor, base)
    t.is(first.body.user.role, 'admin')
    const { rows } = await forge.pool.query(
      `select provider_token, extract(day from expires_at - created_at)::integer as days from auth.session`,
    )
    t.is(rows[0].days, 30)
    t.true(Buffer.isBuffer(rows[0].provider_token))

    people.set('u-1', staff)
    t.is((await refreshed(visitor, base)).body.user.role, 'admin', 'asked within the minute')
    await later(s, 0)
    const second = await refreshed(visitor, base)
    t.deepEqual([second.status, second.body.user?.role], [200, 'operator'])
    const me = (token: string) => forge.call('GET', '/api/auth/me', { token })
    t.is((await me(first.body.token)).status, 401)
    t.is((await me(second.body.token)).status, 200)

    people.delete('u-1')
    await later(s, 0)
    t.is((await refreshed(visitor, base)).status, 401)
    t.is((await me(second.body.token)).status, 401)
    people.set('u-1', staff)
    const again = await signInAs(base, 'u-1')
    t.is((await refreshed(again.visitor, base)).status, 200)

    // The last confirmation of an unreachable provider counts for a day.
    goAway()
    await later(s, 23)
    const third = await refreshed(again.visitor, base)
    t.is(third.status, 200)
    await later(s, 1)
    t.is((await refreshed(again.visitor, base)).status, 502)
    const { rows: events } = await forge.pool.query(
      `select type from write.event where stream = 'user-ada' order by stream_version`,
    )
    t.deepEqual(
      events.map(({ type }) => type.replace('user.', '')),
      ['created', 'identity_linked', 'login', 'role_changed', 'session_withdrawn', 'login'],
    )
  },
)

test.serial(
  'without a refresh token of the provider a session lasts a day, and the last admin stays one',
  async t => {
    const s = await startWithRealProvider(t)
    const { forge, base, people } = s
    await forge.pool.query(`update auth.person set disabled = true where username = 'admin'`)
    people.set('u-1', boss)
    const { visitor } = await signInAs(base, 'u-1')
    t.is((await refreshed(visitor, base)).body.user.role, 'admin')
    const { rows } = await forge.pool.query(
      `select provider_token, extract(epoch from expires_at - created_at)::integer / 3600 as hours
         from auth.session`,
    )
    t.deepEqual(rows, [{ provider_token: null, hours: 24 }])

    people.set('u-1', staff)
    const again = await signInAs(base, 'u-1')
    t.is((await refreshed(again.visitor, base)).body.user.role, 'admin')
    const kept = await forge.pool.query(
      `select data from write.event where type = 'user.role_kept'`,
    )
    t.deepEqual(kept.rows, [{ data: { username: 'ada', role: 'admin' } }])
    t.regex(forge.output(), /the provider took the role from the last admin/)
    people.set('u-2', { preferred_username: 'grace', groups: ['forge-admins'] })
    await signInAs(base, 'u-2')
    const third = await signInAs(base, 'u-1')
    t.is((await refreshed(third.visitor, base)).body.user.role, 'operator')
  },
)

test("a provider's token is opened for the same person and client secret alone", t => {
  const own = { clientSecret: 'a secret', username: 'ada' }
  const sealed = sealProviderToken('token', own)
  t.is(openProviderToken(sealed, own), 'token')
  t.false(sealed.includes('token'))
  t.is(openProviderToken(sealed, { ...own, username: 'bob' }), null)
  t.is(openProviderToken(sealed, { ...own, clientSecret: 'another' }), null)
  const changed = Buffer.from(sealed)
  changed.writeUInt8(changed.readUInt8(30) ^ 1, 30)
  t.is(openProviderToken(changed, own), null)
  t.is(openProviderToken(Buffer.alloc(3), own), null)
})

test('at a refresh, groups that the provider did not send say nothing about the role', t => {
  const settings = { adminGroup: 'admins', groupsClaim: 'groups' }
  const at = (claims: object, isComplete: boolean) =>
    roleAtRefresh({ claims: { ...claims }, isComplete }, settings)
  t.deepEqual(at({}, false), { role: null, isKnown: false })
  t.deepEqual(at({}, true), { role: 'operator', isKnown: true })
  t.deepEqual(at({ groups: [] }, false), { role: 'operator', isKnown: true })
  t.deepEqual(at({ groups: ['admins'] }, false), { role: 'admin', isKnown: true })
  const unmanaged = roleAtRefresh(
    { claims: {}, isComplete: false },
    { ...settings, adminGroup: null },
  )
  t.deepEqual(unmanaged, { role: null, isKnown: true })
})
