import test, { type ExecutionContext } from 'ava'
import { encodeFact } from '../../events/fact.ts'
import { encodeLogsEof, type LogsEof } from '../../events/logs.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { logsProjection } from '../../projector/logs/projection.ts'
import type { LogTables } from '../../projector/logs/table.ts'
import type { MetricTables } from '../../projector/metrics/table.ts'
import { pointFeed } from '../../query-api/metrics/feed.ts'
import { readTail } from '../../query-api/metrics/tail.ts'
import { mayStayIdle, untilLockWaits } from '../servers/lock-waits.ts'
import { database } from '../servers/postgres.ts'
import { emptyStore, flush, report, type Store, startMs } from './given.ts'

const run = 'run_tail'
const all = { after: 0, keys: null }

/** Reads the tail while a report with a new key is stored between the names and the points. */
async function readAcross(t: ExecutionContext, store: Store) {
  const reading = await inTransaction(store.pool, async tx => {
    await mayStayIdle(tx)
    await tx.query('lock table metric_block in access exclusive mode')
    const reading = readTail(store.db, run, all)
    await untilLockWaits(store.pool, 'a reader waits')
    const records = [report(run, [{ key: 'late', step: 2, value: 2 }])]
    await store.projection.apply(tx, [{ topic: 'metrics', partition: 0, records }])
    return { reading }
  })
  const first = await reading.reading
  const next = await readTail(store.db, run, { ...all, after: first.last })
  t.deepEqual(
    [...first.frames, ...next.frames].flatMap(({ points }) => points.map(({ key }) => key)),
    ['early', 'late'],
  )
}

test('a key that is first seen between two reads of a page is not skipped', async t => {
  const store = await emptyStore(t)
  await flush(store, [report(run, [{ key: 'early', step: 1, value: 1 }])])
  await readAcross(t, store)
})

const eof = (data: LogsEof) => ({
  key: run,
  offset: 0n,
  value: encodeFact({
    type: 'logs.eof',
    event_id: '01900000-0000-7000-8000-000000000000',
    received_at_ms: startMs,
    run_id: run,
    attempt: null,
    actor: { type: 'system', id: 'run-keeper', via: 'timer' },
    request_id: 'run-keeper',
    body: encodeLogsEof(data),
  }),
})

test('the eof of a stream of points waits for earlier points on the log', async t => {
  const { pool, kysely } = await database<MetricTables & LogTables>(t, { schema: 'read' })
  const logs = logsProjection('logs')
  const apply = (data: LogsEof) =>
    inTransaction(pool, tx =>
      logs.apply(tx, [{ topic: 'logs', partition: 0, records: [eof(data)] }]),
    )
  const feed = pointFeed(kysely, run, null)
  const hasEnded = async () => (await feed.read(0)).end !== null
  await pool.query(`insert into projection_checkpoint values ('metrics', 'metrics', 3, 7)`)
  await apply({ state: 'succeeded', points: { partition: 3, offset: 7 } })
  t.false(await hasEnded(), 'the record at 7 has yet to be applied')
  await pool.query(`update projection_checkpoint set next_offset = 8`)
  t.true(await hasEnded())
})

test('an eof from before points were counted ends a stream of points at once', async t => {
  const { pool, kysely } = await database<MetricTables & LogTables>(t, { schema: 'read' })
  await inTransaction(pool, tx =>
    logsProjection('logs').apply(tx, [
      { topic: 'logs', partition: 0, records: [eof({ state: 'failed' })] },
    ]),
  )
  t.truthy((await pointFeed(kysely, run, null).read(0)).end)
})
