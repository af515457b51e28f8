import test, { type ExecutionContext } from 'ava'
import { until } from '../servers/until.ts'
import { cookieOf, type ServedSessions, serveSessions } from './serve-sessions.ts'

const hour = 3600
const minute = 60

const serve = (t: ExecutionContext, idleHours: string) =>
  serveSessions(t, {
    env: { SERVICE_SESSION_IDLE_HOURS: idleHours, SERVICE_JWT_HOURS: '720' },
  })

const usedAt = async ({ pool }: ServedSessions): Promise<Date | null> =>
  (await pool.query('select last_used_at from auth.session')).rows[0].last_used_at

test('a session that nobody uses ends with its tokens, and is listed no longer', async t => {
  const served = await serve(t, '2')
  const [idle, used] = [await served.signIn(), await served.signIn()]
  served.later(2 * hour - 1)
  t.is((await served.refresh(used.cookie)).status, 200)
  served.later(1)
  t.false(await served.isLive(idle.token))
  const { status, body } = await served.refresh(idle.cookie)
  t.is(status, 401)
  t.regex(String(body.detail), /sign in again$/)
  const { body: listed } = await served.call<object[]>('GET', '/api/auth/sessions', {
    token: used.token,
  })
  t.is(listed.length, 1)
  const { body: refused } = await served.call('GET', '/api/auth/me', { token: idle.token })
  t.is(refused.detail, 'The session ended after 2 hours without use; sign in again')
  t.is((await served.call('POST', '/api/auth/logout', { token: idle.token })).status, 401)
})

test('a refresh or an authenticated request keeps a session in use', async t => {
  const served = await serve(t, '1')
  const { token, cookie } = await served.signIn()
  const before = await usedAt(served)
  t.is(before, null)
  served.later(50 * minute)
  t.true(await served.isLive(token))
  await until('the use is recorded', 10_000, async () => (await usedAt(served)) !== null)
  served.later(50 * minute)
  const next = await served.refresh(cookie)
  t.is(next.status, 200)
  served.later(50 * minute)
  // Both servers looked the session up before the refresh, and do so again within a second.
  await until('the refresh is known', 10_000, () => served.isLive(token))
  t.is((await served.refresh(cookieOf(next))).status, 200)
})

test('a session in use costs one write in five minutes, however many requests use it', async t => {
  const served = await serve(t, '1')
  const { token } = await served.signIn()
  await served.pool.query(`
    create table writes (at timestamptz);
    create function count_write() returns trigger language plpgsql as
      $$ begin insert into writes values (new.last_used_at); return null; end $$;
    create trigger counted after update of last_used_at on auth.session
      for each row execute function count_write()`)
  const writes = async () => (await served.pool.query('select 1 from writes')).rowCount
  const use = async () => {
    const uses = Array.from({ length: 20 }, () => served.isLive(token))
    t.deepEqual([...new Set(await Promise.all(uses))], [true])
  }
  served.later(5 * minute)
  await use()
  t.is(await writes(), 0)
  served.later(1)
  await use()
  await until('the use is recorded', 10_000, async () => (await writes()) === 1)
  served.later(5 * minute)
  await use()
  served.later(1)
  await use()
  await until('the next use is recorded', 10_000, async () => (await writes()) === 2)
})

test('without a limit a session lasts as long as its refresh tokens', async t => {
  const served = await serve(t, '0')
  const { token, cookie } = await served.signIn()
  served.later(30 * 24 * hour - 1)
  t.true(await served.isLive(token))
  t.is((await served.refresh(cookie)).status, 200)
})

test('by default a session lasts two weeks without use', async t => {
  const served = await serveSessions(t)
  const [first, second] = [await served.signIn(), await served.signIn()]
  served.later(14 * 24 * hour - 1)
  t.is((await served.refresh(first.cookie)).status, 200)
  served.later(1)
  t.is((await served.refresh(second.cookie)).status, 401)
})
