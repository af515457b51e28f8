import test, { type ExecutionContext } from 'ava'
import { createPool, isOutage } from '../../../platform/postgres/pool.ts'
import { inTransaction } from '../../../platform/postgres/transaction.ts'
import { endSessions } from '../../servers/lock-waits.ts'
import { database } from '../../servers/postgres.ts'

/** A table, and a pool of one connection, so that each transaction sees the state the previous one left on it. */
async function oneConnection(t: ExecutionContext) {
  const { pool: others, url } = await database(t)
  await others.query('create table kept (n integer)')
  const pool = createPool(url, { max: 1, applicationName: 'one' })
  t.teardown(() => pool.end())
  const kept = async () => (await others.query('select n from kept order by n')).rows.map(r => r.n)
  return { pool, others, kept }
}

test('a successful transaction is committed and its result returned', async t => {
  const { pool, kept } = await oneConnection(t)
  const result = await inTransaction(pool, async tx => {
    await tx.query('insert into kept values (1)')
    return 'done'
  })
  t.is(result, 'done')
  t.deepEqual(await kept(), [1])
})

test('a failed transaction changes nothing, and its connection can be reused', async t => {
  const { pool, kept } = await oneConnection(t)
  const failing = inTransaction(pool, async tx => {
    await tx.query('insert into kept values (1)')
    await tx.query('select nothing')
  })
  await t.throwsAsync(failing, { code: '42703' })
  await t.throwsAsync(
    inTransaction(pool, async tx => {
      await tx.query('insert into kept values (2)')
      throw new Error('no')
    }),
    { message: 'no' },
  )
  await inTransaction(pool, tx => tx.query('insert into kept values (3)'))
  t.deepEqual(await kept(), [3])
})

test('a failed statement whose error was swallowed does not count as a commit', async t => {
  const { pool, kept } = await oneConnection(t)
  const swallowing = inTransaction(pool, async tx => {
    await tx.query('insert into kept values (1)')
    await tx.query('select nothing').catch(() => {})
  })
  await t.throwsAsync(swallowing, { message: /nothing was committed/ })
  t.deepEqual(await kept(), [])
})

test('a connection lost during a transaction is replaced', async t => {
  const { pool, others, kept } = await oneConnection(t)
  const losing = inTransaction(pool, async tx => {
    await tx.query('insert into kept values (1)')
    await endSessions(others, 'one')
    await tx.query('insert into kept values (2)')
  })
  t.true(isOutage(await t.throwsAsync(losing)))
  await inTransaction(pool, tx => tx.query('insert into kept values (3)'))
  t.deepEqual(await kept(), [3])
})

test('the requested isolation level is used', async t => {
  const { pool, others } = await oneConnection(t)
  const seen = await inTransaction(
    pool,
    async tx => {
      const before = await tx.query('select n from kept')
      await others.query('insert into kept values (1)')
      const after = await tx.query('select n from kept')
      return [before.rowCount, after.rowCount]
    },
    { isolation: 'repeatable read' },
  )
  t.deepEqual(seen, [0, 0])
})
