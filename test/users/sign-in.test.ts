import test from 'ava'
import { startForge } from '../servers/forge.ts'
import { mayStayIdle, untilLockWaits } from '../servers/lock-waits.ts'

const changes: [what: string, assignment: string][] = [
  ['their password is reset', `password_hash = 'another'`],
  ['they are disabled', 'disabled = true'],
]
for (const [what, assignment] of changes)
  test(`a sign-in while ${what} gets no session that outlives it`, async t => {
    const forge = await startForge(t)
    const { body: bob } = await forge.call<{ password: string }>('POST', '/api/admin/users', {
      body: { username: 'bob', role: 'operator' },
    })
    const change = await forge.pool.connect()
    try {
      await change.query('begin')
      await mayStayIdle(change)
      await change.query(`select pg_advisory_xact_lock(hashtextextended('user-bob', 0))`)
      const signIn = forge.call('POST', '/api/auth/login', {
        token: null,
        body: { username: 'bob', password: bob.password },
      })
      await untilLockWaits(
        forge.pool,
        'the password was right, and the change is waited for',
        lock => lock.locktype === 'advisory',
      )
      await change.query(`update auth.person set ${assignment} where username = 'bob'`)
      await change.query('commit')
      t.is((await signIn).status, 401)
    } finally {
      change.release()
    }
    const { rowCount } = await forge.pool.query(`select 1 from auth.session where username = 'bob'`)
    t.is(rowCount, 0)
  })
