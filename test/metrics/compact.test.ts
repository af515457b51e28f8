import test from 'ava'
import { decodeChunk } from '../../platform/series/chunk.ts'
import { compactDue, compactRun, startCompactor } from '../../projector/metrics/compact.ts'
import { readKeys, readSeries } from '../../query-api/metrics/read.ts'
import { readTail } from '../../query-api/metrics/tail.ts'
import { mayStayIdle, untilLockWaits } from '../servers/lock-waits.ts'
import { until } from '../servers/until.ts'
import { compact, emptyStore, flush, logger, report, type Store, startMs } from './given.ts'

const loss = (step: number, value = step) => ({ key: 'loss', step, value })
const range = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => loss(from + i))

const chunks = async (store: Store) =>
  (
    await store.db
      .selectFrom('metric_chunk')
      .select(['first_step', 'last_step', 'count', 'd'])
      .orderBy('first_step')
      .execute()
  ).map(({ d, ...header }) => ({ ...header, steps: decodeChunk(d).steps.length }))

const waiting = async (store: Store) =>
  (
    await store.db.selectFrom('metric_run').select(['waiting_points', 'waiting_blocks']).execute()
  )[0]

const at = (now: number, store: Store) => ({ pool: store.pool, logger, now: () => new Date(now) })
const { signal } = new AbortController()

test('waiting points go into chunks, and a short last chunk is filled up', async t => {
  const store = await emptyStore(t)
  for (let from = 0; from < 9000; from += 3000) {
    await flush(store, [report('run_a', range(from, from + 3000))])
    t.deepEqual(await waiting(store), { waiting_points: 3000, waiting_blocks: 1 })
    await compact(store, 'run_a')
  }
  t.deepEqual(await waiting(store), { waiting_points: 0, waiting_blocks: 0 })
  t.deepEqual(await chunks(store), [
    { first_step: 0, last_step: 4095, count: 4096, steps: 4096 },
    { first_step: 4096, last_step: 6547, count: 2452, steps: 2452 },
    { first_step: 6548, last_step: 8999, count: 2452, steps: 2452 },
  ])
})

test('only the chunks into which points fall are rewritten', async t => {
  const store = await emptyStore(t)
  await flush(store, [report('run_a', range(0, 10_000))])
  await flush(store, [report('run_a', range(10_000, 12_288))])
  await compact(store, 'run_a')
  const physical = () =>
    store.pool.query(
      'select first_step, xmin::text as writer from metric_chunk order by first_step',
    )
  const { rows: before } = await physical()
  t.is(before.length, 3)
  await flush(store, [report('run_a', [loss(5000, -1), loss(20_000)])])
  await compact(store, 'run_a')
  const { rows: after } = await physical()
  t.deepEqual(after[0], before[0])
  t.deepEqual(after[2], before[2])
  t.not(after[1].writer, before[1].writer)
  t.deepEqual(await chunks(store).then(all => all.at(-1)), {
    first_step: 20_000,
    last_step: 20_000,
    count: 1,
    steps: 1,
  })
  t.like(await readKeys(store.db, 'run_a'), [{ count: 12_289, min: -1, last_step: 20_000 }])
})

test('a chunk that grows past its limit is cut', async t => {
  const store = await emptyStore(t)
  const even = range(0, 4000).map(({ step }) => loss(step * 2))
  await flush(store, [report('run_a', even)])
  await compact(store, 'run_a')
  const odd = range(0, 3999).map(({ step }) => loss(step * 2 + 1))
  await flush(store, [report('run_a', odd)])
  await compact(store, 'run_a')
  const [first, second, ...more] = await chunks(store)
  t.deepEqual([first?.count, second?.count, more.length], [4096, 3903, 0])
  t.deepEqual([first?.last_step, second?.first_step], [4095, 4096])
})

/** Compacts `run_a` while a flush of these points to it is open, and commits the flush once the compactor waits for it. */
async function compactWhileFlushing(
  store: Awaited<ReturnType<typeof emptyStore>>,
  points: Parameters<typeof report>[1],
): Promise<void> {
  const flushing = await store.pool.connect()
  await flushing.query('begin')
  await mayStayIdle(flushing)
  await store.projection.apply(flushing, [
    { topic: 'metrics', partition: 0, records: [report('run_a', points)] },
  ])
  const compacting = compact(store, 'run_a')
  await untilLockWaits(store.pool, 'the compactor waits for the flush')
  await flushing.query('commit')
  flushing.release()
  await compacting
}

test('summaries are corrected while the projector continues', async t => {
  const store = await emptyStore(t)
  await flush(store, [report('run_a', range(0, 10))])
  await flush(store, [report('run_a', [loss(3, 100), { key: 'acc', step: 1, value: 1 }])])
  await compactWhileFlushing(store, range(10, 12))
  t.deepEqual(await waiting(store), { waiting_points: 2, waiting_blocks: 1 })
  const { rows } = await store.pool.query(
    'select count, last_step, max, sum, exact from metric_latest order by key_no',
  )
  t.deepEqual(rows[0], { count: 12, last_step: 11, max: 100, sum: 66 - 3 + 100, exact: true })
  t.like(await readKeys(store.db, 'run_a'), [{ key: 'acc' }, { count: 12, max: 100 }])
})

test('a waiting point that repeats a step leaves the summary inexact', async t => {
  const store = await emptyStore(t)
  await flush(store, [report('run_a', [...range(0, 10), loss(0)])])
  await flush(store, [report('run_a', range(5, 6))])
  await compactWhileFlushing(store, [loss(9, 50)])
  const marks = () =>
    store.pool.query(
      'select r.inexact, l.exact from metric_run r join metric_latest l using (run_no)',
    )
  t.deepEqual((await marks()).rows, [{ inexact: true, exact: false }])
  await compact(store, 'run_a')
  t.deepEqual((await marks()).rows, [{ inexact: false, exact: true }])
  t.like(await readKeys(store.db, 'run_a'), [{ count: 10, last: 50 }])
})

test('only one compactor at a time compacts a run', async t => {
  const store = await emptyStore(t)
  await flush(store, [report('run_a', range(0, 10))])
  const other = await store.pool.connect()
  await other.query('begin')
  await other.query(`select pg_advisory_xact_lock(hashtext('read/metric_run'), 1)`)
  t.false(await compactRun(store.pool, 1, startMs))
  await other.query('rollback')
  other.release()
  t.true(await compactRun(store.pool, 1, startMs))
  t.deepEqual(await waiting(store), { waiting_points: 0, waiting_blocks: 0 })
})

test('a run is due when many points wait, when it is inexact for long, or when it is silent', async t => {
  const store = await emptyStore(t)
  const due = (ms: number) => compactDue(at(startMs + ms, store), signal)
  await flush(store, [report('run_a', range(0, 10))])
  t.is(await due(1000), 0)
  await flush(store, [report('run_a', range(3, 4))])
  t.is(await due(1000), 1, 'inexact, and never compacted before')
  await flush(store, [report('run_a', range(3, 4))])
  t.is(await due(5000), 0, 'inexact, but compacted just now')
  t.is(await due(12_000), 1, 'inexact for long')
  for (let i = 0; i < 7; i++)
    await flush(store, [report('run_a', range(i * 9999 + 10, i * 9999 + 10_009))])
  t.is(await due(13_000), 1, 'much waits')
  t.is(await due(14_000), 0)
  t.is(await due(61_000), 1, 'silent')
  t.is(await due(3_600_000), 0, 'settled')
})

test('a silent run is settled, and becomes live when it reports again', async t => {
  const store = await emptyStore(t)
  const tables = async () => {
    const { rows } = await store.pool.query(
      `select (select count(*) from metric_latest) as latest, (select count(*) from metric_settled) as settled,
              (select live from metric_run) as live`,
    )
    return rows[0]
  }
  await flush(store, [report('run_a', [loss(1), { key: 'acc', step: 1, value: 2 }])])
  t.deepEqual(await tables(), { latest: 2, settled: 0, live: true })
  await compact(store, 'run_a', startMs + 61_000)
  t.deepEqual(await tables(), { latest: 0, settled: 2, live: false })
  await flush(store, [report('run_a', [loss(2)], startMs + 90_000)])
  t.deepEqual(await tables(), { latest: 2, settled: 0, live: true })
  t.like(await readKeys(store.db, 'run_a'), [{ count: 1 }, { count: 2, last: 2 }])
})

test('the compactor runs until stopped and continues after a failure', async t => {
  const store = await emptyStore(t)
  await flush(store, [report('run_a', range(0, 10))])
  await store.pool.query('alter table metric_chunk rename to metric_chunk_away')
  const compactor = startCompactor(at(startMs + 61_000, store))
  await new Promise(resolve => setImmediate(resolve))
  await store.pool.query('alter table metric_chunk_away rename to metric_chunk')
  await until('the run is settled', 10_000, async () => {
    const { rows } = await store.pool.query('select live from metric_run')
    return rows[0]?.live === false
  })
  await compactor.stop()
  t.is((await chunks(store)).length, 1)
})

test('readers see every point once while projector and compactor are at work', async t => {
  const store = await emptyStore(t)
  let flushed = 0
  let writing = true
  const write = async () => {
    for (let i = 0; i < 120; i++) {
      await flush(store, [
        report('run_a', range(i * 10, i * 10 + 15)),
        report('run_b', range(i, i + 1)),
      ])
      flushed = i * 10 + 15
    }
    writing = false
  }
  const compactAll = async () => {
    while (writing) for (const runId of ['run_a', 'run_b']) await compact(store, runId)
  }
  const read = async () => {
    let reads = 0
    while (writing) {
      const atLeast = flushed
      const [answer] = await readSeries(store.db, 'run_a', {
        keys: ['loss'],
        axis: 'step',
        from: Number.NEGATIVE_INFINITY,
        to: Number.POSITIVE_INFINITY,
        buckets: 100_000,
      })
      const steps = answer?.points.map(([step]) => step) ?? []
      t.true(steps.length >= atLeast)
      t.deepEqual(
        steps,
        steps.map((_, i) => i),
      )
      reads++
    }
    t.true(reads > 3, `only ${reads} reads`)
  }
  const follow = async () => {
    const seen: number[] = []
    let after = 0
    for (;;) {
      const done = !writing
      const tail = await readTail(store.db, 'run_a', { after, keys: null })
      for (const { points } of tail.frames) seen.push(...points.map(point => point.step))
      after = tail.last
      if (done && !tail.more) break
    }
    t.deepEqual(
      [...new Set(seen)],
      Array.from({ length: flushed }, (_, i) => i),
    )
    t.true(seen.length <= 120 * 15)
  }
  await Promise.all([write(), compactAll(), read(), follow()])
  t.like(await readKeys(store.db, 'run_a'), [{ count: 1205, last: 1204, last_step: 1204 }])
  await compact(store, 'run_a')
  await compact(store, 'run_b')
  t.deepEqual(await waiting(store), { waiting_points: 0, waiting_blocks: 0 })
})
