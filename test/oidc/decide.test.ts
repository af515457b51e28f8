import test from 'ava'
import {
  authenticatedMs,
  followRole,
  nthChoice,
  profileFrom,
  roleBy,
  usernameFrom,
} from '../../command-api/oidc/decide.ts'

const groups = { adminGroup: 'forge-admins', groupsClaim: 'groups' }

for (const [claims, role] of [
  [{ groups: ['staff', 'forge-admins'] }, 'admin'],
  [{ groups: 'forge-admins' }, 'admin'],
  [{ groups: ['staff'] }, 'operator'],
  [{ groups: 'forge-admins-of-old' }, 'operator'],
  [{ groups: [['forge-admins']] }, 'operator'],
  [{ groups: { 'forge-admins': true } }, 'operator'],
  [{ groups: null }, 'operator'],
  [{ roles: ['forge-admins'] }, 'operator'],
  [{}, 'operator'],
] as const)
  test(`${JSON.stringify(claims)} makes ${role}`, t => {
    t.is(roleBy(claims, groups), role)
  })

test('the claim may have another name, and without an admin group the provider sets no role', t => {
  t.is(roleBy({ roles: ['forge-admins'] }, { ...groups, groupsClaim: 'roles' }), 'admin')
  t.is(roleBy({ groups: ['forge-admins'] }, { ...groups, adminGroup: null }), null)
})

test("the role follows the provider's, and is kept if the provider sends none", t => {
  const ada = { username: 'ada', role: 'operator' as const }
  t.deepEqual(followRole('admin', ada), [
    { type: 'user.role_changed', data: { username: 'ada', role: 'operator', previous: 'admin' } },
  ])
  t.deepEqual(followRole('operator', ada), [])
  t.deepEqual(followRole('admin', { username: 'ada', role: null }), [])
})

for (const [claims, username] of [
  [{ preferred_username: 'ada' }, 'ada'],
  [{ preferred_username: 'Ada Lovelace', email: 'x@y' }, 'ada-lovelace'],
  [{ preferred_username: 'Zoë.Müller@example.org' }, 'zoe.muller'],
  [{ email: 'ada+forge@example.org' }, 'ada-forge'],
  [{ name: 'Ada K.' }, 'ada-k.'],
  [{ preferred_username: 42, email: '' }, 'person'],
  [{ preferred_username: '007' }, 'person'],
  [{ preferred_username: '李雷' }, 'person'],
  [{ preferred_username: '../../etc' }, 'etc'],
  [{ preferred_username: 'a'.repeat(100) }, 'a'.repeat(63)],
  [{}, 'person'],
] as const)
  test(`${JSON.stringify(claims)} is named ${username}`, t => {
    t.is(usernameFrom(claims), username)
    t.regex(username, /^[a-z][a-z0-9_.-]{0,62}$/)
  })

test('further candidates for a name respect its maximum length', t => {
  t.is(nthChoice('ada', 1), 'ada')
  t.is(nthChoice('ada', 2), 'ada-2')
  t.is(nthChoice('a'.repeat(63), 12), `${'a'.repeat(60)}-12`)
})

test('an oversized profile is left out or cut', t => {
  t.deepEqual(profileFrom({ name: 'Ada\0', email: 'ada@example.org' }), {
    display_name: 'Ada',
    email: 'ada@example.org',
  })
  t.deepEqual(profileFrom({ name: '', email: 'no address' }), { display_name: null, email: null })
  t.deepEqual(profileFrom({ name: ['Ada'], email: `${'a'.repeat(300)}@b` }), {
    display_name: null,
    email: null,
  })
  t.is(profileFrom({ name: 'x'.repeat(200) }).display_name?.length, 128)
  // Cut inside a pair of surrogates, which Postgres would refuse.
  t.true(profileFrom({ name: `${'x'.repeat(127)}😀` }).display_name?.isWellFormed())
})

test('a sign-in is as old as the provider says, never of the future, and of now if it says nothing', t => {
  const now = Date.parse('2026-11-26T12:00:00Z')
  t.is(authenticatedMs({ auth_time: now / 1000 - 3600 }, now), now - 3_600_000)
  t.is(authenticatedMs({ auth_time: now / 1000 + 3600 }, now), now)
  t.is(authenticatedMs({ auth_time: -1e300 }, now), 0)
  for (const claims of [{}, { auth_time: null }, { auth_time: '1' }])
    t.is(authenticatedMs(claims, now), now)
})
