import test from 'ava'
import { adminPassword } from '../servers/api.ts'
import { startForge } from '../servers/forge.ts'
import { eventsOf } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'
import { signInAs, startWithRealProvider } from './provider.ts'
import { newVisitor, target, type Visitor } from './visitor.ts'

type Refreshed = { token: string; user: { username: string; role: string } }

async function refreshed(visitor: Visitor, base: string) {
  const answer = await visitor.post(`${base}/api/auth/refresh`, {})
  return { status: answer.status, body: (await answer.json()) as Refreshed }
}

test.serial(
  'a person signs in with the provider and is recognized the next time, with the role at that time',
  async t => {
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
    // Sessions opened as an admin have ended.
    t.is((await refreshed(first.visitor, base)).status, 401)
    t.is((await forge.call('GET', '/api/auth/me', { token: access.body.token })).status, 401)
    const events = await eventsOf(forge, 'ada.lovelace')
    t.deepEqual(
      events.map(({ type }) => type),
      ['user.created', 'user.identity_linked', 'user.login', 'user.role_changed', 'user.login'],
    )
    t.like(events[0], { data: { role: 'admin', auth: 'oidc' } })
    t.like(events[2], { data: { via: 'oidc' } })
  },
)

test.serial(
  'an existing user with the same name is a different person: nobody is linked by name or address',
  async t => {
    const { forge, base, people } = await startWithRealProvider(t)
    await forge.pool.query(`update auth.person set email = 'root@example.org'`)
    people.set('u-1', { preferred_username: 'admin', email: 'root@example.org' })
    people.set('u-2', { preferred_username: 'ADMIN@elsewhere' })
    for (const [subject, username] of [
      ['u-1', 'admin-2'],
      ['u-2', 'admin-3'],
      ['u-1', 'admin-2'],
    ] as const) {
      const { visitor } = await signInAs(base, subject)
      const { body } = await refreshed(visitor, base)
      t.deepEqual(body.user, { username, role: 'operator' })
    }
    // Concurrent first sign-ins create one account.
    people.set('u-3', { preferred_username: 'grace' })
    await Promise.all([signInAs(base, 'u-3'), signInAs(base, 'u-3')])
    const { rows } = await forge.pool.query(
      'select subject, username from auth.identity order by subject',
    )
    t.deepEqual(rows, [
      { subject: 'u-1', username: 'admin-2' },
      { subject: 'u-2', username: 'admin-3' },
      { subject: 'u-3', username: 'grace' },
    ])
  },
)

test.serial('a disabled person sees why they cannot sign in', async t => {
  const { forge, base, people } = await startWithRealProvider(t)
  people.set('boss', { preferred_username: 'boss', groups: ['forge-admins'] })
  people.set('u-1', { preferred_username: 'ada' })
  const boss = await refreshed((await signInAs(base, 'boss')).visitor, base)
  const ada = await signInAs(base, 'u-1')
  const disabled = await forge.call('PATCH', '/api/admin/users/ada', {
    token: boss.body.token,
    body: { disabled: true },
  })
  t.is(disabled.status, 200)
  t.is((await refreshed(ada.visitor, base)).status, 401)
  const again = await signInAs(base, 'u-1')
  t.is(again.answer.status, 403)
  t.regex(String(again.answer.headers.get('content-type')), /^text\/html/)
  t.regex(await again.answer.text(), /The account ada is disabled; ask an administrator/)
  t.is(again.visitor.cookie('forge_refresh'), undefined)
  const line = await until('it is logged', 10_000, async () =>
    forge
      .output()
      .split('\n')
      .findLast(one => one.includes('"turned away"') && one.includes('"status":403')),
  )
  t.like(JSON.parse(line), {
    status: 403,
    route: '/api/auth/oidc/callback',
    address: '127.0.0.1',
  })
  const reset = await forge.call('PATCH', '/api/admin/users/ada', {
    token: boss.body.token,
    body: { password: null },
  })
  t.is(reset.status, 409)
})

test.serial(
  'with a provider password sign-in is off, as the public sign-in settings show',
  async t => {
    const { forge, base, people, goAway } = await startWithRealProvider(t)
    const login = { username: 'admin', password: adminPassword }
    const password = await forge.call('POST', '/api/auth/login', { token: null, body: login })
    t.is(password.status, 501)
    t.is(password.body.detail, 'Password login is disabled; sign in with Example ID')
    const { body } = await forge.call('GET', '/api/auth/config', { token: null })
    t.like(body, {
      methods: ['oidc', 'device'],
      password: { enabled: false },
      oidc: { enabled: true, name: 'Example ID', login_url: `${base}/api/auth/oidc/login` },
    })
    people.set('boss', { preferred_username: 'boss', groups: ['forge-admins'] })
    const boss = await refreshed((await signInAs(base, 'boss')).visitor, base)
    const change = { current: 'anything at all', new: 'something else entirely' }
    const own = { token: boss.body.token, body: change }
    t.is((await forge.call('POST', '/api/auth/password', own)).status, 501)

    // An admin can also sign in to end maintenance.
    const path = '/api/admin/maintenance'
    const token = boss.body.token
    t.is((await forge.call('PUT', path, { token, body: { enabled: true } })).status, 200)
    const late = await refreshed((await signInAs(base, 'boss')).visitor, base)
    const end = { token: late.body.token, body: { enabled: false } }
    t.is((await forge.call('PUT', path, end)).status, 200)

    // People with a session are served while the provider is unreachable. Known metadata may still be used, but not known keys.
    goAway()
    t.is((await forge.call('GET', '/api/auth/me', { token: late.body.token })).status, 200)
    await forge.stop()
    await forge.start()
    t.is((await forge.call('GET', '/api/auth/me', { token: late.body.token })).status, 200)
    const away = await newVisitor().get(`${base}/api/auth/oidc/login`)
    t.is(away.status, 502)
    t.like(await away.json(), {
      detail: 'The identity provider Example ID is not responding; try again',
      code: 'oidc.away',
    })
  },
)

test.serial('without a provider its routes respond that none is configured', async t => {
  const forge = await startForge(t)
  for (const path of ['/api/auth/oidc/login', '/api/auth/oidc/callback?state=x&code=y'])
    t.is((await forge.call('GET', path, { token: null })).status, 501)
})
