import test, { type ExecutionContext } from 'ava'
import { Type } from 'typebox'
import { type Route, route } from '../../auth/route.ts'
import { password, type ServedSessions, serveSessions, username } from './serve-sessions.ts'

const minute = 60
const dangerous = { method: 'POST', path: '/api/dangerous' } as const

/** A route that needs a recent sign-in. */
const dangerousRoute: Route = route({
  ...dangerous,
  credential: 'admin',
  recentSignIn: true,
  tag: 'admin',
  summary: 'Do harm',
  response: Type.Object({}),
  handle: async () => ({}),
})

async function serve(t: ExecutionContext) {
  const served = await serveSessions(t, { routes: [dangerousRoute] })
  const act = (token: string) => served.call('POST', dangerous.path, { token })
  const confirm = (token: string, typed = password) =>
    served.call('POST', '/api/auth/confirm', { token, body: { password: typed } })
  return { ...served, act, confirm }
}

test('a sign-in older than 15 minutes is refused with what to do, until the password is confirmed', async t => {
  const { signIn, later, act, confirm, isLive } = await serve(t)
  const { token } = await signIn()
  later(15 * minute)
  t.is((await act(token)).status, 200)
  later(1)
  for (const _ of ['on both servers', 'which take turns']) {
    const { status, body } = await act(token)
    t.is(status, 403)
    t.like(body, { code: 'sign_in_again', data: { confirm_with: 'password' } })
    t.regex(String(body.detail), /confirm your password \(POST \/api\/auth\/confirm\)/)
  }
  t.true(await isLive(token), 'everything else is still permitted')

  const wrong = await confirm(token, 'not the password')
  t.like(wrong.body, { code: 'password.wrong' })
  t.is(wrong.status, 401)
  t.is((await act(token)).status, 403)
  t.deepEqual((await confirm(token)).body, { ok: true })
  t.deepEqual([(await act(token)).status, (await act(token)).status], [200, 200], 'both servers')
  later(15 * minute + 1)
  t.is((await act(token)).status, 403)
})

test('a confirmation counts for its own session alone, and is recorded', async t => {
  const { signIn, later, act, confirm, refresh, pool } = await serve(t)
  const [mine, other] = [await signIn(), await signIn()]
  later(16 * minute)
  await confirm(mine.token)
  t.deepEqual([(await act(mine.token)).status, (await act(other.token)).status], [200, 403])
  const next = await refresh(mine.cookie)
  t.is((await act(String(next.body.token))).status, 200, 'a refresh keeps it')
  later(16 * minute)
  const later_ = await refresh(next.headers.getSetCookie()[0]?.split(';')[0] ?? '')
  t.is((await act(String(later_.body.token))).status, 403, 'but does not renew it')
  const { rows } = await pool.query(
    `select data, meta->'actor' as actor from write.event where type = 'user.session_confirmed'`,
  )
  t.is(rows.length, 1)
  t.like(rows[0], { data: { username }, actor: { type: 'user', id: username, via: 'password' } })
})

test('wrong passwords of a confirmation are held as those of a sign-in are, and recorded', async t => {
  const { signIn, confirm, pool } = await serve(t)
  const { token } = await signIn()
  for (let n = 0; n < 5; n++) t.is((await confirm(token, `guess ${n}`)).status, 401)
  const waits = async () =>
    (
      await pool.query<{ ms: number }>(
        'select extract(epoch from max(next_at) - $1::timestamptz)::float8 * 1000 as ms from auth.sign_in_delay',
        [new Date(0)],
      )
    ).rows[0]?.ms ?? 0
  const before = await waits()
  t.is((await confirm(token, 'guess 5')).status, 401)
  t.true((await waits()) >= before + 1000, 'held for a second')
  await pool.query('delete from auth.sign_in_delay')
  for (let n = 0; n < 4; n++) t.is((await confirm(token)).status, 200)
  t.is((await confirm(token)).status, 429, 'at most 10 a minute for one client')
  const { rows } = await pool.query('select sum(count)::integer as n from auth.failed_login')
  t.is(rows[0].n, 6)
})

test('a person of an identity provider confirms nothing here', async t => {
  const { signIn, confirm, pool } = await serve(t)
  const { token } = await signIn()
  await pool.query('update auth.person set password_hash = null')
  t.is((await confirm(token)).status, 409)
})

test('a session that ended or whose password changed during the check is not confirmed', async t => {
  const {
    signIn,
    confirm,
    pool,
  }: ServedSessions & Pick<Awaited<ReturnType<typeof serve>>, 'confirm'> = await serve(t)
  const { token } = await signIn()
  // As if an administrator had reset the password between the check and the transaction.
  await pool.query(`
    create function reset_meanwhile() returns trigger language plpgsql as
      $$ begin update auth.person set password_hash = 'another'; return new; end $$;
    create trigger meanwhile after insert on auth.sign_in_delay
      for each row execute function reset_meanwhile()`)
  t.is((await confirm(token)).status, 409)
  const { rows } = await pool.query(
    'select authenticated_at = created_at as same from auth.session',
  )
  t.deepEqual(rows, [{ same: true }])
})
