import test from 'ava'
import type { Pool } from 'pg'
import { openAtPosition, segmentsOf } from '../../../platform/postgres/low-level-backup.ts'
import { createPool } from '../../../platform/postgres/pool.ts'
import { database } from '../../servers/postgres.ts'
import { until } from '../../servers/until.ts'

const segmentBytes = 0x100_0000n

test('the segments of a range are named as PostgreSQL names them', async t => {
  const { pool } = await database(t)
  const { rows } = await pool.query<{ timeline: number; name: string; start: string }>(
    `select timeline_id as timeline, pg_walfile_name(lsn) as name, lsn::text as start
       from pg_control_checkpoint(), pg_current_wal_lsn() as lsn`,
  )
  const [{ timeline, name, start } = { timeline: 0, name: '', start: '0/0' }] = rows
  const [high = '', low = ''] = start.split('/')
  const end = (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`)
  const segments = segmentsOf({ timeline, segmentBytes, start: end - 1n, end })
  t.is(segments.at(-1)?.name, name)
})

test('the last segment ends where the range does, and one with nothing but its header is left out', t => {
  const range = { timeline: 1, segmentBytes, start: 0x1_ff00_0028n }
  t.deepEqual(segmentsOf({ ...range, end: 0x2_0000_0100n }), [
    { name: '0000000100000001000000FF', bytes: 0x100_0000 },
    { name: '000000010000000200000000', bytes: 0x100 },
  ])
  t.deepEqual(segmentsOf({ ...range, end: 0x2_0000_0028n }), [
    { name: '0000000100000001000000FF', bytes: 0x100_0000 },
  ])
})

test('a transaction that is under way puts off the position', async t => {
  const { pool, url } = await database(t)
  const session = createPool(url, { max: 1, applicationName: 'position test' })
  t.teardown(() => session.end())
  const observer = await session.connect()
  t.teardown(() => observer.release(true))
  await pool.query('create table counted (n integer)')
  const writer = await pool.connect()
  await writer.query('begin')
  await writer.query('insert into counted values (1)')
  const given = new AbortController()
  const opening = openAtPosition(observer, given.signal)
  await until('it has looked', 10_000, () => hasLooked(pool))
  await writer.query('commit')
  writer.release()
  t.not(await opening, null)
  t.deepEqual((await observer.query('select n from counted')).rows, [{ n: 1 }])
})

/** The session under test has begun a transaction, and ended it again. */
async function hasLooked(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query<{ query: string }>(
    `select query from pg_stat_activity
      where datname = current_database() and application_name = 'position test'`,
  )
  return rows.some(({ query }) => query === 'rollback')
}
