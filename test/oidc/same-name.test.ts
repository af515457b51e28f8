import test from 'ava'
import { until } from '../servers/until.ts'
import { signInAs, startWithRealProvider } from './provider.ts'

test('a first sign-in concurrent with an admin who creates the same name waits, and gets another name', async t => {
  const { forge, base, people } = await startWithRealProvider(t)
  people.set('u-1', { preferred_username: 'ada' })
  const creating = await forge.pool.connect()
  try {
    // Creates a user step by step: first the stream, then the row.
    await creating.query('begin')
    await creating.query(`select pg_advisory_xact_lock(hashtextextended('user-ada', 0))`)
    const arriving = signInAs(base, 'u-1')
    await until('the sign-in waits', 30_000, async () => {
      const { rowCount } = await forge.pool.query(
        `select from pg_locks where locktype = 'advisory' and not granted
            and database = (select oid from pg_database where datname = current_database())`,
      )
      return rowCount === 1
    })
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
