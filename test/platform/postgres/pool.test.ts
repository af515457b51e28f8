import test from 'ava'
import { asBigints, createPool, isBusy, isOutage } from '../../../platform/postgres/pool.ts'
import { inTransaction } from '../../../platform/postgres/transaction.ts'
import { linkTo } from '../../servers/link.ts'
import { endSessions } from '../../servers/lock-waits.ts'
import { database } from '../../servers/postgres.ts'
import { until, untilSettled } from '../../servers/until.ts'

test('int8 is read as a number, timestamptz as a Date, numeric as text', async t => {
  const { pool } = await database(t)
  const { rows } = await pool.query(
    `select 9007199254740991::int8 as n, array[1, null]::int8[] as list, '2026-01-02T03:04:05Z'::timestamptz as at, 1.50::numeric as price`,
  )
  t.deepEqual(rows, [
    { n: 9007199254740991, list: [1, null], at: new Date('2026-01-02T03:04:05Z'), price: '1.50' },
  ])
})

test('an int8 past 2^53 is an error, unless it is requested as bigint', async t => {
  const { pool } = await database(t)
  const text = 'select 9007199254740993::int8 as n, array[9007199254740993]::int8[] as list'
  await t.throwsAsync(pool.query(text), { instanceOf: RangeError })
  const { rows } = await pool.query({ text, types: asBigints })
  t.deepEqual(rows, [{ n: 9007199254740993n, list: [9007199254740993n] }])
})

test('a connection that is lost while idle or in use does not end the process', async t => {
  const { url, pool } = await database(t)
  const errors: Error[] = []
  const victim = createPool(url, {
    max: 2,
    applicationName: 'victim',
    onError: error => errors.push(error),
  })
  t.teardown(() => victim.end())
  const inHand = await victim.connect()
  await victim.query('select 1')
  await endSessions(pool, 'victim')
  await until('the idle one is reported', 10_000, () => errors.length > 0)
  const failure = await t.throwsAsync(inHand.query('select 1'))
  t.true(isOutage(failure))
  inHand.release(failure)
  t.deepEqual((await victim.query('select 1 as one')).rows, [{ one: 1 }])
})

test('a statement that takes too long is stopped by the server', async t => {
  const { url } = await database(t)
  const pool = createPool(url, { max: 1, applicationName: 'slow', statementTimeoutMs: 50 })
  t.teardown(() => pool.end())
  const failure = await t.throwsAsync(pool.query('select pg_sleep(30)'), { code: '57014' })
  t.deepEqual([isBusy(failure), isOutage(failure)], [true, false])
})

test('a refused connection is an outage, a wrong statement is not', async t => {
  const { pool } = await database(t)
  const nowhere = createPool('postgres://forge@127.0.0.1:1/forge', {
    max: 1,
    applicationName: 'none',
  })
  t.teardown(() => nowhere.end())
  t.true(isOutage(await t.throwsAsync(nowhere.query('select 1'))))
  t.false(isOutage(await t.throwsAsync(pool.query('select nothing'))))
})

test('the server notices within half a minute that a client has vanished', async t => {
  const { url } = await database(t)
  const pool = createPool(url, { max: 1, applicationName: 'settings' })
  t.teardown(() => pool.end())
  const { rows } = await pool.query(
    `select name, setting::integer from pg_settings
      where name ~ '^tcp_' or name in ('client_connection_check_interval', 'lock_timeout', 'statement_timeout')
      order by name`,
  )
  const settings = Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))
  t.deepEqual(settings, {
    client_connection_check_interval: 10_000,
    lock_timeout: 10_000,
    statement_timeout: 20_000,
    tcp_keepalives_count: 3,
    tcp_keepalives_idle: 10,
    tcp_keepalives_interval: 5,
    tcp_user_timeout: 25_000,
  })
})

test('a query that waits for a lock fails in time, and the pool still works', async t => {
  const { url, pool: holders } = await database(t)
  await holders.query('create table kept as select 1 as n')
  const pool = createPool(url, { max: 1, applicationName: 'waiting', lockTimeoutMs: 50 })
  t.teardown(() => pool.end())
  await inTransaction(holders, async tx => {
    await tx.query('lock table kept')
    const failure = await t.throwsAsync(pool.query('select n from kept'), { code: '55P03' })
    t.deepEqual([isBusy(failure), isOutage(failure)], [true, false])
    t.deepEqual((await pool.query('select 2 as n')).rows, [{ n: 2 }])
  })
  t.deepEqual((await pool.query('select n from kept')).rows, [{ n: 1 }])
})

test('a query to a server that vanished fails in time, even within a transaction', async t => {
  const { url } = await database(t)
  const link = await linkTo(t, url)
  // Long enough for real responses on a busy machine.
  const answerWithinMs = 3_000
  const pool = createPool(link.url, { max: 2, applicationName: 'frozen', answerWithinMs })
  t.teardown(() => pool.end())
  await pool.query('select 1')
  const lost = inTransaction(pool, async tx => {
    link.freeze()
    await tx.query('select 1')
  })
  t.true(isOutage(await t.throwsAsync(untilSettled('the query is given up', 60_000, lost))))
  const another = untilSettled('so is a new connection', 60_000, pool.query('select 1'))
  t.true(isOutage(await t.throwsAsync(another)))
  link.mend()
  t.deepEqual((await pool.query('select 1 as one')).rows, [{ one: 1 }])
})
