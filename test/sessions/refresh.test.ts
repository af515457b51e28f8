import test, { type ExecutionContext } from 'ava'
import { adminPassword, type Forge, type Reply, startForge } from '../servers/forge.ts'
import { until } from '../servers/until.ts'

type Refreshed = {
  token: string
  expires_in: number
  user: { username: string; role: string }
  code?: string
}
type Server = Pick<Forge, 'call'>

const day = 86_400

/** The refresh token an answer carries, and its cookie's attributes. */
function cookieOf(reply: Reply<unknown>): { token: string; attributes: string } {
  const header = reply.headers.getSetCookie().find(text => text.startsWith('forge_refresh='))
  const [, token = '', attributes = ''] = /^forge_refresh=([^;]*); (.*)$/.exec(header ?? '') ?? []
  return { token, attributes }
}

const signIn = (forge: Server) =>
  forge.call<{ token: string }>('POST', '/api/auth/login', {
    body: { username: 'admin', password: adminPassword },
    token: null,
  })

const refresh = (server: Server, refreshToken: string, headers: Record<string, string> = {}) =>
  server.call<Refreshed>('POST', '/api/auth/refresh', {
    token: null,
    headers: { cookie: `forge_refresh=${refreshToken}`, ...headers },
  })

/** As if so many seconds had passed for every refresh token. */
const pass = (forge: Forge, seconds: number) =>
  forge.pool.query(`update auth.refresh_token set used_at = used_at - make_interval(secs => $1)`, [
    seconds,
  ])

async function eventsOf(forge: Forge, type: string) {
  const { rows } = await forge.pool.query(
    `select data, meta->'actor'->>'via' as via from write.event where type = $1`,
    [type],
  )
  return rows
}

async function isLive(t: ExecutionContext, forge: Server, token: string) {
  const { status } = await forge.call('GET', '/api/auth/me', { token })
  t.true(status === 200 || status === 401)
  return status === 200
}

test('each use of a refresh token gives the next one, and the role of now', async t => {
  const forge = await startForge(t)
  const first = cookieOf(await signIn(forge))
  t.is(first.attributes, `Path=/api/auth; Max-Age=${30 * day}; HttpOnly; SameSite=Strict`)
  const reply = await refresh(forge, first.token)
  t.is(reply.status, 200)
  t.deepEqual(Object.keys(reply.body).sort(), ['expires_in', 'token', 'user'])
  t.is(reply.body.expires_in, 8 * 3600)
  t.deepEqual(reply.body.user, { username: 'admin', role: 'admin' })
  t.true(await isLive(t, forge, reply.body.token))
  const second = cookieOf(reply)
  t.not(second.token, first.token)
  t.false(JSON.stringify(reply.body).includes(second.token))

  await forge.pool.query(`update auth.person set role = 'operator' where username = 'admin'`)
  await until('the old token ends', 5000, async () => !(await isLive(t, forge, reply.body.token)))
  const demoted = await refresh(forge, second.token)
  t.deepEqual(demoted.body.user, { username: 'admin', role: 'operator' })
  t.true(await isLive(t, forge, demoted.body.token))
})

test('a lost answer is given again within ten seconds, by every process and to as many as ask', async t => {
  const forge = await startForge(t)
  const other = await forge.another({ SERVICE_ROLES: 'command-api' })
  const spent = cookieOf(await signIn(forge)).token
  const replies = await Promise.all(
    [forge, other, forge, other, forge, other].map(server => refresh(server, spent)),
  )
  t.deepEqual(
    replies.map(({ status }) => status),
    replies.map(() => 200),
  )
  const successors = new Set(replies.map(reply => cookieOf(reply).token))
  t.is(successors.size, 1)
  await pass(forge, 9)
  t.deepEqual(cookieOf(await refresh(other, spent)).token, [...successors][0])
})

test('a spent token ends its family after ten seconds, with one event', async t => {
  const forge = await startForge(t)
  const signedIn = await signIn(forge)
  const stolen = cookieOf(signedIn).token
  const next = await refresh(forge, stolen)
  await pass(forge, 10.5)
  t.is((await refresh(forge, stolen)).status, 401)
  t.is((await refresh(forge, stolen)).status, 401)
  t.is((await refresh(forge, cookieOf(next).token)).status, 401)
  t.false(await isLive(t, forge, signedIn.body.token))
  t.false(await isLive(t, forge, next.body.token))
  t.true(await isLive(t, forge, forge.token), 'another session of the same person')
  const events = await eventsOf(forge, 'user.refresh_reused')
  t.is(events.length, 1)
  t.like(events[0], { data: { username: 'admin' }, via: 'refresh_token' })
})

test('a spent token ends its family at once when somebody has gone on from its successor', async t => {
  const forge = await startForge(t)
  const stolen = cookieOf(await signIn(forge)).token
  const second = await refresh(forge, stolen)
  const third = await refresh(forge, cookieOf(second).token)
  t.is(third.status, 200)
  t.is((await refresh(forge, stolen)).status, 401)
  t.is((await refresh(forge, cookieOf(third).token)).status, 401)
  t.is((await eventsOf(forge, 'user.refresh_reused')).length, 1)
})

test('a family ends after thirty days, however often it was refreshed', async t => {
  const forge = await startForge(t)
  let token = cookieOf(await signIn(forge)).token
  await forge.pool.query(
    `update auth.session set expires_at = expires_at - make_interval(days => 29, hours => 23)`,
  )
  const late = await refresh(forge, token)
  t.is(late.status, 200)
  const { token: last, attributes } = cookieOf(late)
  const left = Number(/Max-Age=(\d+)/.exec(attributes)?.[1])
  t.true(left > 3500 && left <= 3600, attributes)
  t.true(late.body.expires_in > 3500 && late.body.expires_in <= 3600, 'nor does its access token')
  token = last
  await forge.pool.query(`update auth.session set expires_at = now()`)
  t.is((await refresh(forge, token)).status, 401)

  const rowsOf = async (table: string) =>
    (await forge.pool.query(`select 1 from auth.${table}`)).rowCount
  await forge.pool.query(`update auth.session set expires_at = now() - make_interval(hours => 25)`)
  await signIn(forge)
  t.deepEqual(
    [await rowsOf('session'), await rowsOf('refresh_token')],
    [1, 1],
    'a day later it goes',
  )
})

test('killed between the commit and the answer, a refresh can be tried again', async t => {
  const forge = await startForge(t)
  const spent = cookieOf(await signIn(forge)).token
  const lock = await forge.pool.connect()
  // Holds the commit until the server is stopped, so that it comes about and the answer does not.
  await lock.query(`create function auth.hold() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock(4711); return null; end $$`)
  await lock.query(`create constraint trigger hold after insert on auth.refresh_token
    deferrable initially deferred for each row execute function auth.hold()`)
  await lock.query('select pg_advisory_lock(4711)')
  const lost = refresh(forge, spent).then(
    () => 'answered',
    () => 'lost',
  )
  await until('the commit waits', 20_000, async () => {
    const { rowCount } = await lock.query(
      `select 1 from pg_locks where locktype = 'advisory' and objid = 4711 and not granted`,
    )
    return rowCount === 1
  })
  forge.signal('SIGSTOP')
  await lock.query('select pg_advisory_unlock(4711)')
  const successors = 'select 1 from auth.refresh_token where used_at is not null'
  await until('it is committed', 20_000, async () => (await lock.query(successors)).rowCount === 1)
  await forge.kill()
  t.is(await lost, 'lost')
  await lock.query('drop trigger hold on auth.refresh_token')
  lock.release()
  await forge.start()
  const retried = await refresh(forge, spent)
  t.is(retried.status, 200)
  t.is((await refresh(forge, cookieOf(retried).token)).status, 200, 'what the retry got works')
})

test('no page of another site refreshes, and no answer is given to what is no refresh token', async t => {
  const forge = await startForge(t)
  const { token } = cookieOf(await signIn(forge))
  for (const origin of ['https://evil.example', 'null'])
    t.is((await refresh(forge, token, { origin })).status, 403)
  t.is((await forge.call('POST', '/api/auth/refresh', { token: null })).status, 401)
  t.is((await forge.call('POST', '/api/auth/refresh')).status, 401, 'an access token is none')
  for (const text of ['', 'x', token.slice(1), `${token}a`, 'A'.repeat(43), "' or 1=1 --"])
    t.is((await refresh(forge, text)).status, 401)
  t.is((await refresh(forge, token, { origin: forge.url })).status, 200)
})

test('neither the successor nor any other refresh token is in the database', async t => {
  const forge = await startForge(t)
  const first = cookieOf(await signIn(forge)).token
  const second = cookieOf(await refresh(forge, first)).token
  const { rows } = await forge.pool.query(
    `select t::text as row from auth.refresh_token t union all select e::text from write.event e`,
  )
  t.true(rows.length > 2)
  for (const { row } of rows)
    for (const token of [first, second]) {
      t.false(row.includes(token))
      t.false(row.includes(Buffer.from(token, 'base64url').toString('hex')))
      t.false(row.includes(Buffer.from(token).toString('hex')))
    }
})
