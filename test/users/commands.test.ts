import test from 'ava'
import { passwordOf, type Reply } from '../servers/api.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { createRun } from '../servers/runs.ts'
import { eventsOf, signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'

type Created = { username: string; password: string | null }

const create = (forge: Forge, body: object, headers: Record<string, string> = {}) =>
  forge.call<Created & Record<string, unknown>>('POST', '/api/admin/users', { body, headers })
const change = (forge: Forge, username: string, body: object, token?: string) =>
  forge.call('PATCH', `/api/admin/users/${username}`, { body, ...(token && { token }) })
const signIn = (forge: Forge, username: string, password: unknown) =>
  forge.call<{ token: string }>('POST', '/api/auth/login', {
    token: null,
    body: { username, password },
  })
async function signedInBob(forge: Forge) {
  const bob = { username: 'bob', role: 'operator', password: passwordOf('bob') }
  await create(forge, bob)
  return { bob, token: (await signIn(forge, 'bob', bob.password)).body.token }
}
const isAccepted = async (forge: Forge, token: string) =>
  (await forge.call('GET', '/api/auth/me', { token })).status === 200

test.serial(
  'a person is created with a generated password that is shown once, and signs in with it',
  async t => {
    const forge = await startForge(t)
    const { status, body } = await create(forge, {
      username: 'alice',
      role: 'operator',
      display_name: 'Alice Example',
      email: 'alice@example.org',
    })
    t.is(status, 200)
    t.regex(String(body.password), /^[\w-]{24}$/)
    t.like(body, {
      username: 'alice',
      role: 'operator',
      role_label: 'Member',
      display_name: 'Alice Example',
      email: 'alice@example.org',
      disabled: false,
      last_login_at: null,
      auth: 'password',
      quota: { max_concurrent_gpus: 8, default: true },
    })
    t.regex(String(body.created_at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/)
    const signedInNow = await signIn(forge, 'alice', body.password)
    t.is(signedInNow.status, 200)
    const me = await forge.call('GET', '/api/auth/me', { token: signedInNow.body.token })
    t.like(me.body, { display_name: 'Alice Example', email: 'alice@example.org' })
    const [created] = await eventsOf(forge, 'alice')
    t.like(created, {
      type: 'user.created',
      data: { username: 'alice', role: 'operator', auth: 'password' },
      meta: { actor: { type: 'user', id: 'admin', via: 'password' } },
    })
    const { rows } = await forge.pool.query(
      'select data::text || meta::text as text from write.event',
    )
    for (const secret of [String(body.password), 'alice@example.org', 'Alice Example'])
      t.false(rows.some(row => row.text.includes(secret)))
  },
)

test.serial(
  'a given password is accepted and not echoed; a bad one and a taken name are refused',
  async t => {
    const forge = await startForge(t)
    const password = 'correct horse stapler'
    const bob = await create(forge, { username: 'bob', role: 'admin', password })
    t.is(bob.body.password, null)
    t.is((await signIn(forge, 'bob', password)).status, 200)
    t.is((await create(forge, { username: 'bob', role: 'operator' })).status, 409)
    const short = await create(forge, { username: 'eve', role: 'operator', password: 'short' })
    t.is(short.status, 400)
    t.is((await signIn(forge, 'eve', 'short')).status, 401)
  },
)

test.serial('one of twenty concurrent requests to create a person succeeds', async t => {
  const forge = await startForge(t)
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => create(forge, { username: 'alice', role: 'operator' })),
  )
  t.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(19).fill(409)])
})

const wrong: [why: string, body: object, loc: string, type: string][] = [
  [
    'a name in capitals',
    { username: 'Alice', role: 'operator' },
    'username',
    'string_pattern_mismatch',
  ],
  [
    'a name of 64',
    { username: 'a'.repeat(64), role: 'operator' },
    'username',
    'string_pattern_mismatch',
  ],
  ['no role', { username: 'alice' }, 'role', 'missing'],
  ['an unknown role', { username: 'alice', role: 'root' }, 'role', 'literal_error'],
  [
    'an e-mail without @',
    { username: 'alice', role: 'operator', email: 'x' },
    'email',
    'string_pattern_mismatch',
  ],
  [
    'an unknown field',
    { username: 'alice', role: 'operator', admin: true },
    'admin',
    'extra_forbidden',
  ],
]
test.serial('a person who does not fit the schema is 422 at the field', async t => {
  const forge = await startForge(t)
  for (const [why, body, loc, type] of wrong) {
    const answer = await forge.call<{ detail: object[] }>('POST', '/api/admin/users', { body })
    t.is(answer.status, 422, why)
    t.like(answer.body.detail[0] ?? {}, { loc: ['body', loc], type }, why)
  }
})

test.serial('the same Idempotency-Key creates once and repeats no password', async t => {
  const forge = await startForge(t)
  const body = { username: 'alice', role: 'operator' }
  const key = { 'idempotency-key': 'one-alice' }
  const first = await create(forge, body, key)
  const again = await create(forge, body, key)
  t.is(again.headers.get('idempotency-replayed'), 'true')
  t.deepEqual(again.body, { ...first.body, password: null })
  t.is((await signIn(forge, 'alice', first.body.password)).status, 200)
  t.is((await create(forge, { ...body, role: 'admin' }, key)).status, 409)
  const { rows } = await forge.pool.query('select answer::text as text from write.idempotency')
  t.is(rows.length, 1)
  t.false(rows[0].text.includes(first.body.password))
})

test.serial('only admins administer people', async t => {
  const forge = await startForge(t)
  const alice = await signedIn(forge, 'alice')
  const calls: [string, string, object?][] = [
    ['GET', '/api/admin/users'],
    ['GET', '/api/admin/users/alice'],
    ['GET', '/api/admin/users/nobody'],
    ['POST', '/api/admin/users', { username: 'eve', role: 'admin' }],
    ['PATCH', '/api/admin/users/alice', { role: 'admin' }],
  ]
  for (const [method, path, body] of calls) {
    t.is((await forge.call(method, path, { body, token: alice })).status, 403, `${method} ${path}`)
    t.is((await forge.call(method, path, { body, token: null })).status, 401, `${method} ${path}`)
  }
})

test.serial(
  'disabling ends sessions and the tokens of external runs at once; enabling restores none',
  async t => {
    const forge = await startForge(t)
    const { bob, token } = await signedInBob(forge)
    const run = await forge.call<{ run_id: string; token: string }>('POST', '/api/runs', {
      token,
      body: { project: 'bobs' },
    })
    const othersRun = await createRun(forge, 'admins')
    const report = ({ run_id, token: runToken }: { run_id: string; token: string }) =>
      forge.call('POST', '/api/ingest/metrics', {
        token: runToken,
        body: { run_id, points: [{ key: 'loss', step: 1, value: 1 }] },
      })
    t.true(await isAccepted(forge, token))
    t.is((await report(run.body)).status, 200)
    const answer = await change(forge, 'bob', { disabled: true })
    t.is(answer.status, 200)
    t.like(answer.body, { username: 'bob', disabled: true, password: null })
    t.false(await isAccepted(forge, token))
    t.is((await signIn(forge, 'bob', bob.password)).status, 401)
    const { rows } = await forge.pool.query(
      'select ended_at is not null as ended from auth.ingest_token where run_id = $1',
      [run.body.run_id],
    )
    t.deepEqual(rows, [{ ended: true }])
    // A process may use a cached ingest token for up to a second.
    await until('the token has ended', 10_000, async () => (await report(run.body)).status === 401)
    t.is((await report(othersRun)).status, 200)
    t.is((await change(forge, 'bob', { disabled: false })).status, 200)
    t.false(await isAccepted(forge, token))
    t.is((await signIn(forge, 'bob', bob.password)).status, 200)
    t.deepEqual(
      (await eventsOf(forge, 'bob')).map(({ type }) => type).filter(type => type !== 'user.login'),
      ['user.created', 'user.disabled', 'user.enabled'],
    )
  },
)

test.serial(
  'a new role applies at once: the old token is refused, a new sign-in has the new role',
  async t => {
    const forge = await startForge(t)
    const { bob, token } = await signedInBob(forge)
    t.true(await isAccepted(forge, token))
    t.is((await change(forge, 'bob', { role: 'admin' })).status, 200)
    t.false(await isAccepted(forge, token))
    const asAdmin = (await signIn(forge, 'bob', bob.password)).body.token
    t.is((await forge.call('GET', '/api/admin/users', { token: asAdmin })).status, 200)
    t.is((await change(forge, 'bob', { role: 'operator' })).status, 200)
    t.is((await forge.call('GET', '/api/admin/users', { token: asAdmin })).status, 401)
  },
)

test.serial(
  'a password reset ends the sessions of that person; the admin’s own session continues',
  async t => {
    const forge = await startForge(t)
    const bob = await signedIn(forge, 'bob')
    const reset = await forge.call<Created>('PATCH', '/api/admin/users/bob', {
      body: { password: null },
    })
    t.regex(String(reset.body.password), /^[\w-]{24}$/)
    t.false(await isAccepted(forge, bob))
    t.is((await signIn(forge, 'bob', reset.body.password)).status, 200)
    const own = await change(forge, 'admin', { password: 'another horse battery' })
    t.is(own.status, 200)
    t.true(await isAccepted(forge, forge.token))
  },
)

test.serial('the profile is changed and emptied; unchanged fields append no event', async t => {
  const forge = await startForge(t)
  await create(forge, { username: 'alice', role: 'operator', display_name: 'Alice' })
  const changed = await change(forge, 'alice', { display_name: 'A.', email: 'a@b.c' })
  t.like(changed.body, { display_name: 'A.', email: 'a@b.c' })
  await change(forge, 'alice', { display_name: 'A.' })
  const emptied = await change(forge, 'alice', { email: null })
  t.like(emptied.body, { display_name: 'A.', email: null })
  t.deepEqual(
    (await eventsOf(forge, 'alice')).map(({ data }) => data.fields),
    [undefined, ['display_name', 'email'], ['email']],
  )
  t.is((await change(forge, 'nobody', { email: null })).status, 404)
})

test.serial(
  'the last enabled admin stays one, even if twenty demote each other at once',
  async t => {
    const forge = await startForge(t, { SERVICE_TRUSTED_PROXY_HOPS: '1' })
    for (const body of [{ role: 'operator' }, { disabled: true }]) {
      const refused = await change(forge, 'admin', body)
      t.is(refused.status, 409)
      t.is(refused.body.code, 'users.last_admin')
    }
    const names = Array.from({ length: 20 }, (_, index) => `admin-${index}`)
    const tokens: string[] = []
    for (const [index, username] of names.entries()) {
      const password = passwordOf(username)
      await create(forge, { username, role: 'admin', password })
      const { body } = await forge.call<{ token: string }>('POST', '/api/auth/login', {
        token: null,
        body: { username, password },
        headers: { 'x-forwarded-for': `10.0.0.${index}` },
      })
      tokens.push(body.token)
      t.true(await isAccepted(forge, body.token))
    }
    t.is((await change(forge, 'admin', { disabled: true }, tokens[0])).status, 200)
    const answers: Reply<Record<string, unknown>>[] = await Promise.all(
      names.map((_, index) => {
        const next = names[(index + 1) % names.length] ?? ''
        const body = index % 2 === 0 ? { role: 'operator' } : { disabled: true }
        return change(forge, next, body, tokens[index])
      }),
    )
    // A person demoted before their own request is handled may no longer demote others; that is correct.
    t.true(answers.every(({ status }) => [200, 401, 409].includes(status)))
    const { rows } = await forge.pool.query(
      `select count(*) as admins from auth.person where role = 'admin' and not disabled`,
    )
    t.true(rows[0].admins >= 1)
    t.is(answers.filter(({ status }) => status === 200).length, 20 - rows[0].admins)
  },
)
