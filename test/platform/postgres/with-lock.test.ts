import test from 'ava'
import { untilAborted } from '../../../platform/pause.ts'
import { locks, rowLock, schemaLock, textLock } from '../../../platform/postgres/locks.ts'
import { inTransaction } from '../../../platform/postgres/transaction.ts'
import {
  LockTaken,
  lockInTransaction,
  lockRows,
  tryLockInTransaction,
  tryWithLock,
  unlockRows,
  withLock,
} from '../../../platform/postgres/with-lock.ts'
import { untilLockWaits } from '../../servers/lock-waits.ts'
import { database } from '../../servers/postgres.ts'
import { until } from '../../servers/until.ts'

const waitMs = 10_000

test('a held lock is refused to others, and is free afterwards', async t => {
  const { pool } = await database(t)
  for (const lock of [locks.relay, textLock('a'), schemaLock('a'), rowLock('a', 1)]) {
    let inner: boolean | null = null
    const outer = await tryWithLock(pool, lock, async () => {
      inner = await tryWithLock(pool, lock, async () => t.fail('two hold it'))
    })
    t.deepEqual([outer, inner], [true, false], lock.key)
    t.true(await tryWithLock(pool, lock, async () => {}), lock.key)
  }
})

test('different locks do not exclude each other', async t => {
  const { pool } = await database(t)
  const isHeld = await tryWithLock(pool, rowLock('a', 1), async () => {
    for (const other of [rowLock('a', 2), rowLock('b', 1), schemaLock('a'), textLock('a')])
      t.true(await tryWithLock(pool, other, async () => {}), other.key)
  })
  t.true(isHeld)
})

test('rows locked by schema name are the same as by search path, until they are unlocked', async t => {
  const { pool } = await database(t)
  const rows = { schema: 'public', table: 'a', numbers: [1, 3] }
  const free = async () => {
    const found: number[] = []
    for (const number of [1, 2, 3])
      await tryWithLock(pool, rowLock('a', number), async () => void found.push(number))
    return found
  }
  const holder = await pool.connect()
  t.teardown(() => holder.release())
  await lockRows(holder, rows)
  t.deepEqual(await free(), [2])
  await unlockRows(holder, rows)
  t.deepEqual(await free(), [1, 2, 3])
})

test('a failure under a lock releases it', async t => {
  const { pool } = await database(t)
  const failing = tryWithLock(pool, locks.relay, async () => {
    throw new Error('no')
  })
  await t.throwsAsync(failing, { message: 'no' })
  t.is(await withLock(pool, { lock: locks.relay, waitMs }, async () => 'done'), 'done')
})

test('a waiter gets the lock when its holder is done', async t => {
  const { pool } = await database(t)
  const done = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  const first = withLock(pool, { lock: locks.relay, waitMs }, () => {
    held.resolve()
    return done.promise
  })
  await held.promise
  const second = withLock(pool, { lock: locks.relay, waitMs }, async client => {
    const { rows } = await client.query(
      `select current_setting('lock_timeout') as lock, current_setting('statement_timeout') as statement`,
    )
    return rows[0]
  })
  await untilLockWaits(pool, 'the second waits', lock => lock.locktype === 'advisory')
  done.resolve()
  await first
  const { rows } = await pool.query(
    `select current_setting('lock_timeout') as lock, current_setting('statement_timeout') as statement`,
  )
  t.deepEqual(await second, rows[0], 'the time-outs of the pool are back')
})

test('waiting for a lock times out', async t => {
  const { pool } = await database(t)
  await withLock(pool, { lock: locks.relay, waitMs }, async () => {
    const waiting = withLock(pool, { lock: locks.relay, waitMs: 50 }, async () => t.fail())
    await t.throwsAsync(waiting, { instanceOf: LockTaken, message: /7265001/ })
  })
})

test('a holder learns that its connection is lost, and the lock is free for others', async t => {
  const { pool } = await database(t)
  let isFree: boolean | null = null
  const losing = tryWithLock(pool, locks.relay, async (client, lost) => {
    const { rows } = await client.query('select pg_backend_pid() as pid')
    await pool.query('select pg_terminate_backend($1)', [rows[0]?.pid])
    await untilAborted(lost)
    await until('another has it', 10_000, () => tryWithLock(pool, locks.relay, async () => {}))
    isFree = true
  })
  await t.throwsAsync(losing, { code: '57P01' })
  t.true(isFree)
})

test('the end of a transaction releases its lock', async t => {
  const { pool } = await database(t)
  const lock = textLock('a')
  await inTransaction(pool, async tx => {
    await lockInTransaction(tx, lock)
    t.false(await inTransaction(pool, other => tryLockInTransaction(other, lock)))
  })
  t.true(await inTransaction(pool, other => tryLockInTransaction(other, lock)))
})
