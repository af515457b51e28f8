import test from 'ava'
import type { Reply } from '../servers/api.ts'
import { until } from '../servers/until.ts'
import { password, type ServedSessions, serveSessions, username } from './serve-sessions.ts'

const behindProxy = { env: { SERVICE_TRUSTED_PROXY_HOPS: '1' } }
const home = '10.9.0.1'
let strangers = 0

type Answer = Reply<{ token?: string; code?: string }> & { ms: number }

async function signIn(s: ServedSessions, given: string, from: string, name = username) {
  const began = performance.now()
  const reply: Answer['body'] & object = {}
  const answer = await s.call<typeof reply>('POST', '/api/auth/login', {
    body: { username: name, password: given },
    headers: { 'x-forwarded-for': from },
  })
  return { ...answer, ms: performance.now() - began }
}

/** A wrong password for the person, each time from another address. */
const stranger = (s: ServedSessions) => signIn(s, 'a guess', `10.7.0.${++strangers}`)

/**
 * Fails until everybody is refused, then aborts the delayed attempts. From then on an attempt that would have to be delayed is
 * refused with 503, so that the response reveals whether it was, however long it took.
 */
async function keepOut(s: ServedSessions): Promise<void> {
  const guesses = Array.from({ length: 12 }, () => stranger(s))
  let refused = 0
  for (const guess of guesses)
    void guess.then(({ status }) => {
      if (status === 429) refused++
    })
  await until('strangers are refused', 30_000, () => refused > 0)
  await s.passwordGuard.close()
  await Promise.all(guesses)
}

test('failures of strangers do not block a person on networks where they have signed in before', async t => {
  const s = await serveSessions(t, behindProxy)
  t.is((await signIn(s, password, home)).status, 200)
  await keepOut(s)
  const elsewhere = await signIn(s, password, '10.9.9.9')
  t.like(elsewhere, { status: 429, body: { code: 'login.delayed' } })
  t.is((await signIn(s, password, home)).status, 200, 'neither refused nor held')
  t.is((await signIn(s, password, home, 'nobody')).status, 401)
})

test('attempts from a known network are also delayed, once five of them have failed', async t => {
  const s = await serveSessions(t, behindProxy)
  t.is((await signIn(s, password, home)).status, 200)
  for (let attempt = 0; attempt < 5; attempt++) t.is((await signIn(s, 'a guess', home)).status, 401)
  const held = await signIn(s, password, home)
  t.is(held.status, 200)
  t.true(held.ms >= 990, `${held.ms} ms`)
})

test('a name that imitates a known network counts as a name', async t => {
  const s = await serveSessions(t, behindProxy)
  t.is((await signIn(s, password, home)).status, 200)
  for (const name of [`["${username}","${home}"]`, `${username}\n${home}`, `${username}${home}`])
    for (let attempt = 0; attempt < 3; attempt++) await signIn(s, 'a guess', '10.8.0.1', name)
  const { rows } = await s.pool.query('select failures from auth.sign_in_delay order by 1')
  t.deepEqual(
    rows.map(row => row.failures),
    [0, 3, 3, 3],
  )
})

test('the 16 newest networks of a person are remembered, IPv6 by /56, and outlive a crash of the database', async t => {
  const s = await serveSessions(t, behindProxy)
  for (let network = 1; network <= 18; network++) {
    s.later(1)
    t.is((await signIn(s, password, `10.9.${network}.1`)).status, 200)
  }
  s.later(1)
  t.is((await signIn(s, password, '10.9.3.1')).status, 200)
  t.is((await signIn(s, password, '2001:db8:0:1::1')).status, 200)
  t.is((await signIn(s, 'a guess', '10.9.4.1')).status, 401)
  const { rows } = await s.pool.query(
    `select network from auth.sign_in_network where username = $1 order by last_at, network`,
    [username],
  )
  const fourth = Array.from({ length: 14 }, (_, n) => `10.9.${n + 5}.1`)
  t.deepEqual(
    rows.map(row => row.network),
    [...fourth, '10.9.3.1', '2001:db8::/56'],
  )
  const { rows: tables } = await s.pool.query(
    `select relpersistence from pg_class where oid = 'auth.sign_in_network'::regclass`,
  )
  t.deepEqual(tables, [{ relpersistence: 'p' }])
})

test('changes of one’s own password are counted per session: neither strangers nor another session delay them', async t => {
  const s = await serveSessions(t, behindProxy)
  const [mine, stolen] = [
    await signIn(s, password, home),
    await signIn(s, password, '10.9.0.2'),
  ].map(({ body }) => body.token ?? '')
  await keepOut(s)
  const change = (token: string | undefined, current: string, from: string) =>
    s.call('POST', '/api/auth/password', {
      token: token ?? '',
      body: { current, new: 'quite another one 7' },
      headers: { 'x-forwarded-for': from },
    })
  for (let attempt = 0; attempt < 5; attempt++)
    t.is((await change(stolen, 'a guess', '10.9.0.2')).status, 401)
  t.is((await change(stolen, 'a guess', '10.9.0.2')).status, 503, 'held')
  t.is((await change(mine, password, '10.6.0.1')).status, 200, 'neither refused nor held')
})

test('one network can fill only a part of the room for delayed sign-ins', async t => {
  const s = await serveSessions(t, behindProxy)
  const names = Array.from({ length: 20 }, (_, n) => `name-${n}`)
  await s.pool.query(
    `insert into auth.sign_in_delay (account_sha256, began_at, failures, next_at)
     select sha256(convert_to(name, 'UTF8')), $2, 50, $2 from unnest($1::text[]) name`,
    [names, s.deps.now()],
  )
  const answers: Answer[] = []
  const attempt = (name: string | undefined, from: string) =>
    signIn(s, 'a guess', from, name).then(answer => {
      answers.push(answer)
    })
  const counted = (n: number) => async () => {
    const { rows } = await s.pool.query(
      'select count(*)::integer as n from auth.sign_in_delay where failures > 50',
    )
    return rows[0].n === n
  }
  const open = names.slice(0, 10).map(name => attempt(name, home))
  await until('ten are held', 10_000, counted(10))
  t.is(answers.length, 0)
  // The limit for each address would refuse the others.
  await s.pool.query('delete from auth.rate_limit')
  open.push(...names.slice(10, 19).map(name => attempt(name, home)))
  await until('three of the others are refused', 10_000, () => answers.length === 3)
  for (const answer of answers) t.like(answer, { status: 429, body: { code: 'login.delayed' } })
  open.push(attempt(names[19], '10.9.0.2'))
  await until('the last is counted', 10_000, counted(20))
  await s.passwordGuard.close()
  await Promise.all(open)
  t.deepEqual(
    answers.map(({ status }) => status).sort(),
    [429, 429, 429, ...Array(17).fill(503)].sort(),
    'another network is held',
  )
})
