import test from 'ava'
import { CorruptFact, encodeFact } from '../../events/fact.ts'
import { CorruptSeries } from '../../platform/series/varint.ts'
import { readKeys } from '../../query-api/metrics/read.ts'
import { readTail } from '../../query-api/metrics/tail.ts'
import { compact, emptyStore, flush, report, type Store, startMs } from './given.ts'

const loss = (step: number, value = step / 10) => ({ key: 'loss', step, value })

const summaries = (store: Store) =>
  store.db
    .selectFrom('metric_summary')
    .select(['run_no', 'count', 'first_step', 'last_step', 'last', 'min', 'max', 'sum', 'exact'])
    .orderBy('run_no')
    .execute()

test('a flush stores one block per run and summarizes each key', async t => {
  const store = await emptyStore(t)
  await flush(store, [
    report('run_a', [loss(1), loss(2)]),
    report('run_b', [loss(7)]),
    report('run_a', [loss(3)]),
  ])
  const blocks = await store.db
    .selectFrom('metric_block')
    .select(['run_no', 'first_record', 'records', 'points'])
    .orderBy('run_no')
    .execute()
  t.deepEqual(blocks, [
    { run_no: 1, first_record: 0, records: 2, points: 3 },
    { run_no: 2, first_record: 0, records: 1, points: 1 },
  ])
  const exact = true
  t.deepEqual(await summaries(store), [
    {
      run_no: 1,
      count: 3,
      first_step: 1,
      last_step: 3,
      last: 0.3,
      min: 0.1,
      max: 0.3,
      sum: 0.6000000000000001,
      exact,
    },
    {
      run_no: 2,
      count: 1,
      first_step: 7,
      last_step: 7,
      last: 0.7,
      min: 0.7,
      max: 0.7,
      sum: 0.7,
      exact,
    },
  ])
})

test('a report before the last step leaves the summary inexact until compaction', async t => {
  const store = await emptyStore(t)
  await flush(store, [report('run_a', [loss(1), loss(2, 9)])])
  await flush(store, [report('run_a', [loss(2, 4)])])
  t.like((await summaries(store))[0], { count: 3, last: 4, exact: false })
  await compact(store, 'run_a')
  t.like((await summaries(store))[0], { count: 2, last: 4, max: 4, exact: true })
})

test('a run without finite values has no extremes', async t => {
  const store = await emptyStore(t)
  await flush(store, [report('run_a', [{ key: 'loss', step: 1, value: 'NaN' }])])
  await flush(store, [report('run_a', [{ key: 'loss', step: 2, value: 'Infinity' }])])
  t.like(await readKeys(store.db, 'run_a'), [{ count: 2, min: null, max: null, last: 'Infinity' }])
  await flush(store, [report('run_a', [loss(3, 5)])])
  t.like(await readKeys(store.db, 'run_a'), [{ count: 3, min: 5, max: 5, last: 5 }])
})

test('a damaged record is an error that rolls back its flush', async t => {
  const store = await emptyStore(t)
  const good = report('run_a', [loss(1)])
  const damaged = { ...good, value: Buffer.from(good.value) }
  damaged.value[20] = (damaged.value[20] ?? 0) ^ 1
  await t.throwsAsync(flush(store, [good, damaged]), { instanceOf: CorruptFact })
  const hollow = {
    ...good,
    value: encodeFact({
      type: 'metrics.appended',
      event_id: '0199e2c4-5b7a-7c11-8c2e-3f1a5b6c7d8e',
      received_at_ms: startMs,
      run_id: 'run_a',
      attempt: null,
      actor: { type: 'run', id: 'run_a', via: 'ingest_token' },
      request_id: 'req-00000001',
      body: Buffer.from('no block'),
    }),
  }
  await t.throwsAsync(flush(store, [hollow]), { instanceOf: CorruptSeries })
  t.deepEqual(await readKeys(store.db, 'run_a'), [])
})

test('records in any batching give the same series with the same numbers', async t => {
  const records = Array.from({ length: 40 }, (_, i) =>
    report(`run_${i % 3}`, [
      loss((i * 7) % 30, i),
      ...(i % 4 === 0 ? [{ key: `k${i % 5}`, step: i, value: i }] : []),
      ...(i % 9 === 0 ? [] : [{ key: 'acc', step: i, value: 1 / (i + 1) }]),
    ]),
  )
  // An empty report has no number, regardless of its batch.
  records.splice(5, 0, report('run_0', []))
  const outcomes = []
  for (const size of [1, 7, records.length]) {
    const store = await emptyStore(t)
    for (let i = 0; i < records.length; i += size) {
      await flush(store, records.slice(i, i + size))
      if (size === 7 && i % 2 === 0) await compact(store, `run_${i % 3}`)
    }
    const runs = []
    for (const runId of ['run_0', 'run_1', 'run_2']) {
      await compact(store, runId)
      const { frames, last } = await readTail(store.db, runId, { after: 0, keys: null })
      runs.push({ keys: await readKeys(store.db, runId), last, points: sorted(frames) })
    }
    outcomes.push(runs)
  }
  t.deepEqual(outcomes[1], outcomes[0])
  t.deepEqual(outcomes[2], outcomes[0])
})

/** Points of one report may be in any order. */
const sorted = (frames: { points: object[] }[]) =>
  frames.flatMap(frame => frame.points.map(point => JSON.stringify(point))).sort()

test('known names are not looked up again', async t => {
  const store = await emptyStore(t)
  await flush(store, [report('run_a', [loss(1)])])
  const tx = await store.pool.connect()
  const asked: string[] = []
  const spy = Object.assign(Object.create(tx), {
    query: (query: { name: string; text: string }) => {
      asked.push(query.name)
      return tx.query(query)
    },
  })
  await store.projection.apply(spy, [
    { topic: 'metrics', partition: 0, records: [report('run_a', [loss(2)])] },
  ])
  tx.release()
  t.deepEqual(asked, ['count_metric_reports', 'save_metric_blocks', 'update_metric_latest'])
})
