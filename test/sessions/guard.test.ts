import test from 'ava'
import { recordOldestMinute } from '../../command-api/sessions/failed-logins.ts'
import { until } from '../servers/until.ts'
import { password, type ServedSessions, serveSessions, username } from './serve-sessions.ts'

const behindProxy = { env: { SERVICE_TRUSTED_PROXY_HOPS: '1' } }
let addresses = 0

/** Signs in from a different address, because each has ten attempts a minute. */
async function signIn({ call }: ServedSessions, name: string, given: string, from?: string) {
  addresses++
  const began = performance.now()
  const { status, headers } = await call('POST', '/api/auth/login', {
    body: { username: name, password: given },
    headers: { 'x-forwarded-for': from ?? `10.1.${addresses >> 8}.${addresses & 255}` },
  })
  return { status, retryAfter: headers.get('retry-after'), ms: performance.now() - began }
}

const failures = async ({ pool }: ServedSessions) =>
  (await pool.query('select failures from auth.sign_in_delay')).rows.map(row => row.failures)

for (const name of [username, 'nobody'])
  test(`after five failures attempts as ${name} wait, even with the right password, until 15 minutes have passed`, async t => {
    const s = await serveSessions(t, behindProxy)
    for (let attempt = 0; attempt < 5; attempt++)
      t.is((await signIn(s, name, 'not the password')).status, 401)
    const nextInS = async () => {
      const { rows } = await s.pool.query(
        'select extract(epoch from next_at - $1)::integer as s from auth.sign_in_delay',
        [s.deps.now()],
      )
      return rows[0].s
    }
    t.is(await nextInS(), 0)
    const sixth = await signIn(s, name, password)
    t.is(sixth.status, name === username ? 200 : 401)
    t.true(sixth.ms >= 990, `${sixth.ms} ms`)
    t.is(await nextInS(), 1)
    t.deepEqual(await failures(s), [name === username ? 5 : 6])
    t.true((await signIn(s, 'somebody else', 'not the password')).status === 401)
    s.later(15 * 60)
    await signIn(s, name, 'not the password')
    t.true((await failures(s)).includes(1))
  })

test('attempts at the same time wait for each other on all processes, longer each time, and none longer than a minute', async t => {
  const s = await serveSessions(t, behindProxy)
  const answers = Array.from({ length: 20 }, () => signIn(s, username, 'not the password'))
  const refused: number[] = []
  for (const answer of answers)
    void answer.then(({ status, retryAfter }) => {
      if (status === 429 && retryAfter === '60') refused.push(status)
    })
  // Five at once, then 1, 3, 7, 15 and 31 s after the first; 63 s would be too long.
  await until('ten are refused', 30_000, () => refused.length === 10)
  await s.passwordGuard.close()
  const statuses = (await Promise.all(answers)).map(({ status }) => status)
  t.is(statuses.filter(status => status === 429).length, 10)
  t.true(statuses.filter(status => status === 401).length >= 5)
  t.true(statuses.filter(status => status === 503).length >= 1, 'a stop ends delayed attempts')
  t.is(statuses.filter(status => status === 200).length, 0)
})

test('a wrong current password counts like a failed sign-in, and an address has ten attempts a minute', async t => {
  const s = await serveSessions(t)
  const { token } = await s.signIn()
  const change = (current: string) =>
    s.call('POST', '/api/auth/password', { token, body: { current, new: 'quite another one 7' } })
  for (let attempt = 0; attempt < 5; attempt++) t.is((await change('wrong')).status, 401)
  t.deepEqual((await failures(s)).sort(), [0, 5], 'of the sign-in, and of the session')
  await s.pool.query('update auth.sign_in_delay set failures = 0')
  for (let attempt = 0; attempt < 4; attempt++) await change('wrong')
  t.is((await change(password)).status, 200)
  t.is((await change(password)).status, 429)
  const { rows } = await s.pool.query(
    'select is_account, subject, sum(count)::integer as n from auth.failed_login group by 1, 2',
  )
  t.deepEqual(rows, [{ is_account: true, subject: username, n: 9 }])
})

const events = async ({ pool }: ServedSessions) =>
  (
    await pool.query(
      `select stream, data from write.event where type = 'user.login_failed' order by stream`,
    )
  ).rows

test('failed sign-ins are one event for each account, or address with unknown names, and minute', async t => {
  const s = await serveSessions(t, behindProxy)
  for (const given of ['one', 'two', 'three']) await signIn(s, username, given, '2001:db8:0:1::1')
  for (const name of ['my password by mistake', 'nobody'])
    await signIn(s, name, 'not the password', '2001:db8:0:2::1')
  t.false(await recordOldestMinute(s.deps), 'the minute is not over')
  s.later(130)
  // Several processes at once.
  await Promise.all([recordOldestMinute(s.deps), recordOldestMinute(s.deps)])
  t.false(await recordOldestMinute(s.deps))
  const found = await events(s)
  t.like(found, [
    {
      stream: 'failed_login-2001:db8::/56',
      data: { username: null, address: '2001:db8::/56', count: 2 },
    },
    { stream: `failed_login-${username}`, data: { username, address: null, count: 3 } },
  ])
  t.is(found.length, 2)
  t.notRegex(JSON.stringify(found), /mistake|nobody|three/)
})

test('a flood from many addresses causes a hundred events a minute, and one for all others', async t => {
  const s = await serveSessions(t)
  await s.pool.query(
    `insert into auth.failed_login (minute, is_account, subject, count)
     select date_trunc('minute', $1::timestamptz), false, '10.0.' || n / 250 || '.' || n % 250, 1 + n % 2
       from generate_series(1, 5000) n`,
    [new Date(s.deps.now().getTime() - 120_000)],
  )
  t.true(await recordOldestMinute(s.deps))
  const found = await events(s)
  t.is(found.length, 101)
  t.is(
    found.reduce((sum, { data }) => sum + data.count, 0),
    7500,
  )
  t.like(found.at(-1), { stream: 'failed_login-further-addresses', data: { address: null } })
})
