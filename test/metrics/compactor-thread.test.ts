import test from 'ava'
import { pino } from 'pino'
import { rowLock } from '../../platform/postgres/locks.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { tryLockInTransaction } from '../../platform/postgres/with-lock.ts'
import { planChunks, pointsByKey, writeChunks } from '../../projector/metrics/chunks.ts'
import { isAnyDue } from '../../projector/metrics/compact.ts'
import { startCompactorThread } from '../../projector/metrics/compactor.ts'
import { metricsProjection } from '../../projector/metrics/projection.ts'
import type { MetricTables } from '../../projector/metrics/table.ts'
import { mayStayIdle, untilLockWaits } from '../servers/lock-waits.ts'
import { database } from '../servers/postgres.ts'
import { until } from '../servers/until.ts'
import { compact, emptyStore, flush, report } from './given.ts'

const range = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => ({ key: 'loss', step: from + i, value: i }))

test('a working compactor does not delay a stop, and its unfinished work is undone', async t => {
  const { pool, kysely: db, url } = await database<MetricTables>(t, { schema: 'read' })
  await flush({ pool, db, projection: metricsProjection('metrics') }, [
    report('run_a', range(0, 100)),
  ])
  // It writes its chunks, then waits for the row of the run as if that took long.
  const other = await pool.connect()
  await other.query('begin')
  await mayStayIdle(other)
  await other.query('select 1 from metric_run for update')
  const said: string[] = []
  const logger = pino({ level: 'warn' }, { write: line => void said.push(line) })
  const compactor = startCompactorThread({ databaseUrl: url, searchPath: 'read' }, logger)
  await untilLockWaits(
    pool,
    'the compactor waits',
    ({ application }) => application === 'forge compactor',
  )
  await compactor.stop()
  await other.query('rollback')
  other.release()
  // A pass under way is aborted after a second; had it waited the full ten seconds for its lock, it would say so.
  t.deepEqual(said, [])
  const { rows } = await pool.query(
    'select (select count(*) from metric_chunk) as chunks, (select count(*) from metric_block) as blocks',
  )
  t.deepEqual(rows, [{ chunks: 0, blocks: 1 }])
})

test('the thread starts once a run is due, ends when idle, and starts again for the next run', async t => {
  const { pool, kysely: db, url } = await database<MetricTables>(t, { schema: 'read' })
  const store = { pool, db, projection: metricsProjection('metrics') }
  let looks = 0
  const compactor = startCompactorThread(
    { databaseUrl: url, searchPath: 'read', idlePasses: 1 },
    pino({ level: 'silent' }),
    async () => {
      looks += 1
      return await isAnyDue(pool, new Date())
    },
  )
  t.teardown(() => compactor.stop())
  const threads = async (): Promise<number> => {
    const { rows } = await pool.query(
      `select count(*)::int as threads from pg_stat_activity
        where application_name = 'forge compactor' and datname = current_database()`,
    )
    return rows[0].threads
  }
  await until('it has looked in vain', 20_000, async () => looks > 0)
  t.is(await threads(), 0)
  for (const [nth, run] of ['run_a', 'run_b'].entries()) {
    await flush(store, [report(run, range(0, 10))])
    await until(`${run} is compacted`, 20_000, async () => {
      const { rows } = await pool.query(
        'select count(*)::int as settled from metric_run where not live',
      )
      return rows[0].settled === nth + 1
    })
    await until('the idle thread has ended', 20_000, async () => (await threads()) === 0)
  }
})

test('nothing is written before all is computed, so that the relay does not wait for it', async t => {
  const store = await emptyStore(t)
  await flush(store, [report('run_a', range(0, 5000))])
  await compact(store, 'run_a')
  await flush(store, [report('run_a', range(2000, 6000))])
  const { rows: blocks } = await store.pool.query('select d from metric_block')
  await inTransaction(store.pool, async tx => {
    t.true(await tryLockInTransaction(tx, rowLock('metric_run', 1)))
    const changes = await planChunks(tx, 1, pointsByKey(blocks.map(({ d }) => d)))
    t.deepEqual([changes.replaced.length, changes.inserted.length], [2, 2])
    const hasWritten = async () =>
      (await tx.query('select pg_current_xact_id_if_assigned() is not null as written')).rows[0]
    t.deepEqual(await hasWritten(), { written: false })
    await writeChunks(tx, changes)
    t.deepEqual(await hasWritten(), { written: true })
  })
})
