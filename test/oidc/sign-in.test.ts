import test from 'ava'
import type { Forge } from '../servers/forge.ts'
import { signInAs, startWithRealProvider } from './provider.ts'
import { target, type Visitor } from './visitor.ts'

type Refreshed = { token: string; user: { username: string; role: string } }

async function refreshed(visitor: Visitor, base: string) {
  const answer = await visitor.post(`${base}/api/auth/refresh`, {})
  return { status: answer.status, body: (await answer.json()) as Refreshed }
}

async function eventsOf({ pool }: Forge, username: string) {
  const { rows } = await pool.query<{ type: string; data: Record<string, unknown> }>(
    'select type, data from write.event where stream = $1 order by stream_version',
    [`user-${username}`],
  )
  return rows
}

test('a person signs in with the provider and is the same one the next time, with the role of then', async t => {
  const { forge, base, people } = await startWithRealProvider(t)
  people.set('u-1', {
    preferred_username: 'Ada.Lovelace@example.org',
    name: 'Ada Lovelace',
    email: 'ada@example.org',
    groups: ['staff', 'forge-admins'],
  })
  const first = await signInAs(base, 'u-1', '/device?user_code=BCDF-GHJK')
  t.is(first.answer.status, 302)
  t.is(target(first.answer).href, `${base}/device?user_code=BCDF-GHJK`)
  const access = await refreshed(first.visitor, base)
  t.is(access.status, 200)
  t.deepEqual(access.body.user, { username: 'ada.lovelace', role: 'admin' })
  const me = await forge.call('GET', '/api/auth/me', { token: access.body.token })
  t.like(me.body, {
    display_name: 'Ada Lovelace',
    email: 'ada@example.org',
    token: { method: 'oidc' },
  })
  const person = await forge.call('GET', '/api/admin/users/ada.lovelace', {
    token: access.body.token,
  })
  t.is(person.body.auth, 'oidc')

  people.set('u-1', { preferred_username: 'countess', groups: ['staff'] })
  const second = await signInAs(base, 'u-1')
  const later = await refreshed(second.visitor, base)
  t.deepEqual(later.body.user, { username: 'ada.lovelace', role: 'operator' })
  // What was opened as an admin has ended.
  t.is((await refreshed(first.visitor, base)).status, 401)
  t.is((await forge.call('GET', '/api/auth/me', { token: access.body.token })).status, 401)
  const events = await eventsOf(forge, 'ada.lovelace')
  t.deepEqual(
    events.map(({ type }) => type),
    ['user.created', 'user.identity_linked', 'user.login', 'user.role_changed', 'user.login'],
  )
  t.like(events[0], { data: { role: 'admin', auth: 'oidc' } })
  t.like(events[2], { data: { via: 'oidc' } })
})
