import test from 'ava'
import { keepCaptured } from '../../command-api/reflows/keep-captured.ts'
import { database } from '../servers/postgres.ts'

const now = new Date('2026-11-28T12:00:00Z')

const rowsOf = (deployment_id: string, ...nth: number[]) =>
  nth.map(n => ({
    ...{ request_id: `${deployment_id}-${n}`, deployment_id, token_id: 'tok', subject: null },
    ...{ started_at: now.toISOString(), sealed: 'x'.repeat(1000) },
  }))

test('the oldest captured requests of a deployment make room for new ones, and are counted', async t => {
  const { pool } = await database(t)
  const keep = (deployment: string, ...nth: number[]) =>
    keepCaptured(pool, rowsOf(deployment, ...nth), { limitBytes: 3500, now })
  const held = async () => {
    const { rows } = await pool.query('select request_id from write.captured_request order by seq')
    return rows.map(({ request_id }) => request_id)
  }
  const sizes = async () => {
    const { rows } = await pool.query(
      `select deployment_id, bytes::int, evicted::int, evicted_at from write.captured_size order by 1`,
    )
    return rows
  }
  await keep('a', 1, 2, 3)
  await keep('b', 1)
  t.deepEqual(await held(), ['a-1', 'a-2', 'a-3', 'b-1'])
  await keep('a', 4, 5)
  await keep('a', 5)
  t.deepEqual(await held(), ['a-3', 'b-1', 'a-4', 'a-5'], 'a repeated write changes nothing')
  t.deepEqual(await sizes(), [
    { deployment_id: 'a', bytes: 3000, evicted: 2, evicted_at: now },
    { deployment_id: 'b', bytes: 1000, evicted: 0, evicted_at: null },
  ])
  await pool.query(`delete from write.captured_request where deployment_id = 'a'`)
  await Promise.all([keep('a', 6, 7), keep('b', 2, 3), keep('a', 8, 9), keep('b', 4, 5)])
  const [a, b] = await sizes()
  t.deepEqual(
    [a.bytes, b.bytes],
    [3000, 3000],
    'also after deletions, and of writes at the same time',
  )
})
