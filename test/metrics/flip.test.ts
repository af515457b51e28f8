import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { migrate } from '../../platform/postgres/migrate.ts'
import { createPool } from '../../platform/postgres/pool.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { metricsProjection } from '../../projector/metrics/projection.ts'
import type { MetricTables } from '../../projector/metrics/table.ts'
import { exportPoints } from '../../query-api/metrics/export.ts'
import { readKeys } from '../../query-api/metrics/read.ts'
import { findRunNo, inSnapshot } from '../../query-api/metrics/store.ts'
import { readTail } from '../../query-api/metrics/tail.ts'
import { mayStayIdle, untilLockWaits } from '../servers/lock-waits.ts'
import { database } from '../servers/postgres.ts'
import { compact, emptyStore, flush, type Point, report, type Store } from './given.ts'

test('a read during which a rebuild flips sees one generation, not the numbers of one in the tables of the other', async t => {
  const store = await emptyStore(t)
  await flush(store, [report('run_a', [{ key: 'loss', step: 1, value: 1 }])])
  /** The same content, with different numbers, under the same names. */
  const flip = () =>
    inTransaction(store.pool, async tx => {
      await tx.query('create schema read_next')
      for (const table of ['metric_run', 'generation'])
        await tx.query(`create table read_next.${table} (like read.${table} including all)`)
      await tx.query('insert into read_next.metric_run select * from read.metric_run')
      await tx.query('update read_next.metric_run set run_no = run_no + 100')
      await tx.query('alter schema read rename to read_old')
      await tx.query('alter schema read_next rename to read')
    })
  const seen: (number | null)[][] = []
  await inSnapshot(store.db, async tx => {
    const first = await findRunNo(tx, 'run_a')
    if (seen.length === 0) await flip()
    seen.push([first, await findRunNo(tx, 'run_a')])
  })
  t.deepEqual(seen, [
    [1, null],
    [101, 101],
  ])
})

test('a failing read that no flip explains fails', async t => {
  const { db } = await emptyStore(t)
  t.deepEqual(await readKeys(db, 'run_unknown'), [])
  await t.throwsAsync(
    inSnapshot(db, async () => {
      throw new Error('on purpose')
    }),
    { message: 'on purpose' },
  )
})

const migrations = join(import.meta.dirname, '../../projector/migrations')

type Reports = [runId: string, points: Point[]][]

/** A store with two runs, and another generation of it, in which runs and keys have different numbers, ready to flip. */
async function twoGenerations(t: ExecutionContext, reports: Reports) {
  const { url, pool, kysely } = await database<MetricTables>(t, { schema: 'read' })
  const store: Store = { pool, db: kysely, projection: metricsProjection('metrics') }
  const fill = async (into: Store, order: Reports) => {
    for (const [run, points] of order) await flush(into, [report(run, points)])
  }
  await fill(store, reports)
  await migrate(url, [{ schema: 'read_next', folder: migrations }])
  const nextPool = createPool(url, { max: 1, searchPath: 'read_next', applicationName: t.title })
  const next: Store = { ...store, pool: nextPool, projection: metricsProjection('metrics') }
  await fill(next, reports.toReversed())
  await nextPool.end()
  return store
}

const flipTo = ['alter schema read rename to read_old', 'alter schema read_next rename to read']

/** Flips when a reader has reached this table. */
async function flipAt<T>({ pool }: Store, table: string, read: () => Promise<T>): Promise<T> {
  const { reading } = await inTransaction(pool, async tx => {
    await mayStayIdle(tx)
    await tx.query(`lock table read.${table} in access exclusive mode`)
    const reading = read()
    await untilLockWaits(pool, 'a reader waits')
    for (const statement of flipTo) await tx.query(statement)
    return { reading }
  })
  return reading
}

const range = (key: string, from: number, to: number): Point[] =>
  Array.from({ length: to - from }, (_, n) => ({ key, step: from + n, value: from + n }))

const mixed: Reports = [
  ['run_a', [...range('loss', 0, 3), ...range('acc', 0, 3)]],
  ['run_b', [...range('other', 100, 103), ...range('loss', 100, 103)]],
]

for (const table of ['metric_name', 'metric_block'])
  test(`a page of a stream across a flip at ${table} is from one generation`, async t => {
    const store = await twoGenerations(t, mixed)
    const tail = await flipAt(store, table, () =>
      readTail(store.db, 'run_a', { after: 0, keys: null }),
    )
    const points = tail.frames.flatMap(frame => frame.points)
    t.deepEqual(points.map(({ key, step, value }) => `${key} ${step} ${value}`).sort(), [
      'acc 0 0',
      'acc 1 1',
      'acc 2 2',
      'loss 0 0',
      'loss 1 1',
      'loss 2 2',
    ])
    t.deepEqual([tail.last, tail.more], [1, false])
  })

const exported = async (pieces: AsyncGenerator<string>) => {
  let text = ''
  for await (const piece of pieces) text += piece
  return text
}

test('an export continues in the new generation where it stopped in the old one', async t => {
  const reports: Reports = [
    ['run_a', [...range('acc', 0, 3), ...range('loss', 0, 40_000)]],
    ['run_b', [...range('loss', 100, 103), ...range('acc', 100, 103)]],
  ]
  const store = await twoGenerations(t, reports)
  await compact(store, 'run_a')
  const all = { format: 'csv', keys: null } as const
  const whole = await exported(exportPoints(store.db, 'run_a', all))
  t.is(whole.split('\n').length, 1 + 40_003 + 1)

  const pieces = exportPoints(store.db, 'run_a', all)
  const first: string[] = []
  for (let n = 0; n < 3; n++) first.push((await pieces.next()).value)
  t.regex(first[2] ?? '', /^loss,0,/)
  for (const statement of flipTo) await store.pool.query(statement)
  await store.pool.query('drop schema read_old cascade')
  const rest = await exported(pieces)
  t.true(rest.length > 0)
  t.is(first.join('') + rest, whole)
})

test('an export across a flip reads one generation at a time', async t => {
  const store = await twoGenerations(t, mixed)
  await compact(store, 'run_a')
  const all = { format: 'csv', keys: null } as const
  const whole = await exported(exportPoints(store.db, 'run_a', all))
  const across = await flipAt(store, 'metric_chunk', () =>
    exported(exportPoints(store.db, 'run_a', all)),
  )
  t.is(across, whole)
})

test('an export of a run that is gone after a flip fails, so that nobody mistakes it for complete', async t => {
  const store = await twoGenerations(t, mixed)
  const pieces = exportPoints(store.db, 'run_a', { format: 'csv', keys: null })
  t.is((await pieces.next()).value, 'key,step,value,ts\n')
  t.regex((await pieces.next()).value, /^acc,0,/)
  await store.pool.query(`delete from read_next.metric_run where run_id = 'run_a'`)
  for (const statement of flipTo) await store.pool.query(statement)
  await t.throwsAsync(pieces.next())
})
