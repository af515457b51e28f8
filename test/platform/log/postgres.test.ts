import test from 'ava'
import { openPostgresLog } from '../../../platform/log/postgres.ts'
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
  // The range that is being filled stays, however small the limit.
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
  // What a reader sees between the end of a transaction that adds a leaf and the notice of that leaf.
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

test('a record that stays missing is named, not stepped over', async t => {
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
