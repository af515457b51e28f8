import test from 'ava'
import { dropSchema } from '../../projector/rebuild/flip.ts'
import { mayStayIdle } from '../servers/lock-waits.ts'
import { database } from '../servers/postgres.ts'
import { until } from '../servers/until.ts'

const tables = ['one', 'two', 'three', 'four', 'five']

test('read models are dropped only when nobody is reading them, and no reader has to wait', async t => {
  const { pool } = await database(t)
  await pool.query('create schema past')
  for (const table of tables) await pool.query(`create table past.${table} (at integer)`)
  const reader = await pool.connect()
  await reader.query('begin')
  await mayStayIdle(reader)
  // A statement locks its tables one after the other.
  await reader.query('select from past.three')
  let isDropped = false
  const dropping = dropSchema({ pool, signal: new AbortController().signal }, 'past').then(() => {
    isDropped = true
  })
  await until('it has tried', 20_000, async () => {
    const { rowCount } = await pool.query(
      `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
        and (query ilike 'lock table past.%' or query ilike 'drop schema%' or query ilike 'rollback%')`,
    )
    return rowCount !== 0
  })
  await reader.query("set local statement_timeout = '10s'")
  for (const table of tables) await reader.query(`select from past.${table}`)
  t.false(isDropped)
  await reader.query('commit')
  reader.release()
  await dropping
  const { rows } = await pool.query(`select to_regnamespace('past') as schema`)
  t.deepEqual(rows, [{ schema: null }])
})
