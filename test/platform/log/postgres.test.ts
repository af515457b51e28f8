import test from 'ava'
import { openPostgresLog } from '../../../platform/log/postgres.ts'
import { patient } from '../../servers/patience.ts'
import { database } from '../../servers/postgres.ts'
import { until } from '../../servers/until.ts'
import { record, take, testContract, topicsOfTest } from './contract.ts'

testContract(test, async t => {
  const { url } = await database(t)
  return topics => openPostgresLog({ url, topics })
})

test('trimming drops whole ranges that are old and read, and reading continues after them', async t => {
  const { url, pool } = await database(t)
  const { single } = topicsOfTest()
  const log = await openPostgresLog({ url, topics: [single] })
  t.teardown(log.close)
  await pool.query('update log.lane set leaf_records = 10')
  for (let n = 0; n < 35; n += 5)
    await log.append(
      single.name,
      Array.from({ length: 5 }, (_, i) => record('k', String(n + i))),
    )
  const later = new Date(Date.now() + 60_000)

  t.is(await log.trim(single.name, { before: later, keepFrom: [25n] }), 20)
  t.deepEqual(await log.start(single.name), [20n])
  t.deepEqual(await log.end(single.name), [35n])
  const read = await take(log, single.name, 0, 3n, 15)
  t.is(read[0]?.offset, 20n)
  t.is(read.at(-1)?.value.toString(), '34')

  t.is(await log.trim(single.name, { before: new Date(0), keepFrom: [35n] }), 0)
  // The range being filled stays, however small the limit.
  t.is(await log.trim(single.name, { before: new Date(0), maxBytes: 0, keepFrom: [35n] }), 10)
  t.deepEqual(await log.start(single.name), [30n])
  t.deepEqual((await log.append(single.name, [record('k', '35')]))[0]?.offset, 35n)
})

test('a topic whose number of partitions has changed is refused', async t => {
  const { url } = await database(t)
  const { facts } = topicsOfTest()
  const log = await openPostgresLog({ url, topics: [facts] })
  await log.close()
  await t.throwsAsync(openPostgresLog({ url, topics: [{ ...facts, partitions: 4 }] }), {
    message: /has 3 partitions in the database and 4 in this program/,
  })
})

test('records appended by another process reach a waiting reader', async t => {
  const { url } = await database(t)
  const { single } = topicsOfTest()
  const [here, there] = await Promise.all([
    openPostgresLog({ url, topics: [single] }),
    openPostgresLog({ url, topics: [single] }),
  ])
  t.teardown(here.close)
  t.teardown(there.close)
  const waiting = take(here, single.name, 0, 0n, 3)
  // Alternating, so that the reader's cache of its own appends has gaps that must be fetched.
  await there.append(single.name, [record('k', '0')])
  await here.append(single.name, [record('k', '1')])
  await there.append(single.name, [record('k', '2')])
  t.deepEqual(
    (await waiting).map(({ value }) => value.toString()),
    ['0', '1', '2'],
  )
})

test('a committed record that is not found yet is waited for', async t => {
  const { url, pool } = await database(t)
  const { single } = topicsOfTest()
  const log = await openPostgresLog({ url, topics: [single] })
  t.teardown(log.close)
  await log.append(single.name, [record('k', '0')])
  // A reader's view between the end of a transaction that adds a leaf and the notice of that leaf.
  await pool.query('update log.lane set next_offset = 3')
  await pool.query(
    `insert into log.record (lane, "offset", key, value) select lane, 2, 'k', '2' from log.lane`,
  )
  const hasLooked = async () => {
    const { rowCount } = await pool.query(
      `select from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and query like '%first_offset from log.lane%'`,
    )
    return rowCount !== 0
  }
  const reading = take(log, single.name, 0, 0n, 3)
  await until('the reader has not found the record', 20_000, hasLooked)
  await pool.query(
    `insert into log.record (lane, "offset", key, value) select lane, 1, 'k', '1' from log.lane`,
  )
  t.deepEqual(
    (await reading).map(({ value }) => value.toString()),
    ['0', '1', '2'],
  )
})

test('an append whose leaf is not found yet waits for it', async t => {
  const { url, pool } = await database(t)
  const { single } = topicsOfTest()
  // PostgreSQL reports the failure below only a moment later, which the append must outlast.
  const log = await openPostgresLog({ url, topics: [single], unseenMs: patient(20_000) })
  t.teardown(log.close)
  await pool.query('update log.lane set leaf_records = 2')
  await log.append(single.name, [record('k', '0'), record('k', '1')])
  // The view of a connection that missed the next leaf.
  await pool.query('update log.lane set leaf_end = 4')
  const appending = log.append(single.name, [record('k', '2')])
  await until('an append has failed', 10_000, async () => {
    const { rows } = await pool.query(
      'select xact_rollback from pg_stat_database where datname = current_database()',
    )
    return rows[0].xact_rollback > 0
  })
  await pool.query('select log.add_leaf(lane, 2, 4) from log.lane')
  t.deepEqual(
    (await appending).map(({ offset }) => offset),
    [2n],
  )
  const stored = await take(log, single.name, 0, 0n, 3)
  t.deepEqual(
    stored.map(({ value }) => value.toString()),
    ['0', '1', '2'],
  )
})

test('an append whose leaf stays missing is refused, stores nothing, and the next ones succeed', async t => {
  const { url, pool } = await database(t)
  const { single } = topicsOfTest()
  const log = await openPostgresLog({ url, topics: [single] })
  t.teardown(log.close)
  await pool.query('update log.lane set leaf_records = 1')
  await log.append(single.name, [record('k', '0')])
  await pool.query('update log.lane set leaf_end = 2')
  await t.throwsAsync(log.append(single.name, [record('k', 'lost')]), { name: 'LogUnavailable' })
  await pool.query('select log.add_leaf(lane, 1, 2) from log.lane')
  t.is((await log.append(single.name, [record('k', '1')]))[0]?.offset, 1n)
})

test('two processes that append to all topics while leaves are added and dropped never block each other', async t => {
  const { url, pool } = await database(t)
  const topics = Object.values(topicsOfTest()).map(topic => ({ ...topic, partitions: 2 }))
  const logs = await Promise.all([
    openPostgresLog({ url, topics }),
    openPostgresLog({ url, topics }),
  ])
  for (const log of logs) t.teardown(log.close)
  await pool.query('update log.lane set leaf_records = 2')
  const rounds = 150
  const writing = logs.map(async log => {
    for (let n = 0; n < rounds; n++)
      await Promise.all(
        topics.map(({ name }) =>
          log.append(name, [record('a', `${n}`), record('b', `${n}`), record('c', `${n}`)]),
        ),
      )
  })
  let isWriting = true
  let dropped = 0
  const trimming = logs.map(async log => {
    while (isWriting)
      for (const { name } of topics)
        dropped += await log.trim(name, {
          before: new Date(Date.now() + 60_000),
          keepFrom: await log.end(name),
        })
  })
  await Promise.all(writing).finally(() => {
    isWriting = false
  })
  await Promise.all(trimming)
  const ends = (await Promise.all(topics.map(({ name }) => logs[0]?.end(name)))).flat()
  t.is(
    Number(ends.reduce((sum, end) => (sum ?? 0n) + (end ?? 0n), 0n)),
    2 * rounds * topics.length * 3,
  )
  t.true(dropped > 100, `${dropped} were dropped`)
})

test('a record that stays missing is named, not skipped', async t => {
  const { url, pool } = await database(t)
  const { single } = topicsOfTest()
  const log = await openPostgresLog({ url, topics: [single] })
  t.teardown(log.close)
  await log.append(single.name, [record('k', '0'), record('k', '1'), record('k', '2')])
  await pool.query('delete from log.record where "offset" = 1')
  const read = take(log, single.name, 0, 1n, 1)
  await t.throwsAsync(read, {
    name: 'LogUnreadable',
    message: /from offset 1 on: its record is missing/,
  })
})
