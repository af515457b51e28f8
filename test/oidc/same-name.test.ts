import test from 'ava'
import { mayStayIdle, untilLockWaits } from '../servers/lock-waits.ts'
import { signInAs, startWithRealProvider } from './provider.ts'

test('a first sign-in concurrent with an admin who creates the same name waits, and gets another name', async t => {
  const { forge, base, people } = await startWithRealProvider(t)
  people.set('u-1', { preferred_username: 'ada' })
  const creating = await forge.pool.connect()
  try {
    // Creates a user step by step: first the stream, then the row.
    await creating.query('begin')
    await mayStayIdle(creating)
    await creating.query(`select pg_advisory_xact_lock(hashtextextended('user-ada', 0))`)
    const arriving = signInAs(base, 'u-1')
    await untilLockWaits(forge.pool, 'the sign-in waits', lock => lock.locktype === 'advisory')
    await creating.query(
      `insert into auth.person (username, role, created_at) values ('ada', 'operator', now())
       on conflict do nothing`,
    )
    await creating.query('commit')
    t.is((await arriving).answer.status, 302)
  } finally {
    creating.release()
  }
  const { rows } = await forge.pool.query('select username from auth.identity')
  t.deepEqual(rows, [{ username: 'ada-2' }])
})
