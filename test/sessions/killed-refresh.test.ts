import test from 'ava'
import { adminPassword } from '../servers/api.ts'
import { type Forge, startForgeProcess } from '../servers/forge.ts'
import { untilLockWaits } from '../servers/lock-waits.ts'
import { until } from '../servers/until.ts'
import { cookieOf } from './serve-sessions.ts'

const refresh = (forge: Forge, cookie: string) =>
  forge.call('POST', '/api/auth/refresh', { token: null, headers: { cookie } })

test('after a kill between commit and response, a refresh can be retried', async t => {
  const forge = await startForgeProcess(t)
  const signedIn = await forge.call('POST', '/api/auth/login', {
    body: { username: 'admin', password: adminPassword },
    token: null,
  })
  const spent = cookieOf(signedIn)
  const lock = await forge.pool.connect()
  t.teardown(() => lock.release())
  // Delays the commit until the server is stopped, so that it succeeds and the response is lost.
  await lock.query(`create function auth.hold() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock(4711); return null; end $$`)
  await lock.query(`create constraint trigger hold after insert on auth.refresh_token
    deferrable initially deferred for each row execute function auth.hold()`)
  await lock.query('select pg_advisory_lock(4711)')
  const lost = refresh(forge, spent).then(
    () => 'answered',
    () => 'lost',
  )
  await untilLockWaits(
    lock,
    'the commit waits',
    ({ locktype, query }) => locktype === 'advisory' && /^commit/i.test(query),
  )
  forge.signal('SIGSTOP')
  await lock.query('select pg_advisory_unlock(4711)')
  const successors = 'select 1 from auth.refresh_token where used_at is not null'
  await until('it is committed', 20_000, async () => (await lock.query(successors)).rowCount === 1)
  await forge.kill()
  t.is(await lost, 'lost')
  await lock.query('drop trigger hold on auth.refresh_token')
  await forge.start()
  // Compensates for a busy machine, on which a restart takes longer than the grace.
  await lock.query('update auth.refresh_token set used_at = now() where used_at is not null')
  const retried = await refresh(forge, spent)
  t.is(retried.status, 200)
  t.is((await refresh(forge, cookieOf(retried))).status, 200, 'what the retry got works')
})
