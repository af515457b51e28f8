import test, { type ExecutionContext } from 'ava'
import { pino } from 'pino'
import { encodeFact } from '../../events/fact.ts'
import { encodeLogs, encodeLogsEof } from '../../events/logs.ts'
import type { LogRecord } from '../../platform/log/event-log.ts'
import { createMemoryLog } from '../../platform/log/memory.ts'
import { createPool } from '../../platform/postgres/pool.ts'
import { inProcessSignals } from '../../platform/signals.ts'
import { logsProjection } from '../../projector/logs/projection.ts'
import type { LogTables } from '../../projector/logs/table.ts'
import { startRunner } from '../../projector/runner/runner.ts'
import { matcherOf } from '../../query-api/logs/match.ts'
import { linesAfter, readLogState } from '../../query-api/logs/read.ts'
import { searchBackward, searchForward } from '../../query-api/logs/search.ts'
import { database } from '../servers/postgres.ts'
import { until } from '../servers/until.ts'

const topic = 'test.logs'
const at = Date.parse('2026-11-20T12:00:00Z')

const envelope = (run_id: string) => ({
  event_id: '01900000-0000-7000-8000-000000000000',
  received_at_ms: at,
  run_id,
  attempt: 1,
  actor: { type: 'run' as const, id: run_id, via: 'ingest_token' },
  request_id: 'r',
})
const place = { node: 'n1', rank: 0, stream: 'stdout' }

const lines = (run: string, chunks: string[], seq: number): LogRecord => ({
  key: run,
  value: encodeFact({
    type: 'logs.appended',
    ...envelope(run),
    body: encodeLogs({ origin: 'report', ...place, producer: 'p', seq, chunks }),
  }),
})
const eof = (run: string, state: string): LogRecord => ({
  key: run,
  value: encodeFact({ type: 'logs.eof', ...envelope(run), body: encodeLogsEof({ state }) }),
})

/** Runs the projection over records, one append each, for as many batches as possible. */
async function projected(t: ExecutionContext, records: LogRecord[]) {
  const db = await database<LogTables>(t, { schema: 'read' })
  const log = createMemoryLog([{ name: topic, partitions: 1, retentionDays: null }])
  const pool = createPool(db.url, { max: 3, searchPath: 'read', applicationName: 'logs' })
  const dead: string[] = []
  const runner = startRunner(logsProjection(topic), {
    pool,
    log,
    signals: inProcessSignals(),
    logger: pino({ level: 'silent' }),
    onDeadLetter: one => dead.push(one),
  })
  for (const record of records) await log.append(topic, [record])
  await until(
    'all is applied',
    15_000,
    () => runner.status().checkpoints[0] === BigInt(records.length),
  )
  await runner.stop()
  await pool.end()
  return { db: db.kysely, pool: db.pool, dead }
}

const streamTextsOf = async (db: Awaited<ReturnType<typeof projected>>['db'], run: string) => {
  const found: [number, string][] = []
  for await (const line of linesAfter(db, run, 0)) found.push([line.seq, line.text])
  return found
}

test('lines of several runs are numbered densely, separately for each run', async t => {
  const records = Array.from({ length: 60 }, (_, i) =>
    lines(i % 2 === 0 ? 'run_a' : 'run_b', [`line ${i}`, 'and'], i),
  )
  const { db } = await projected(t, [...records, eof('run_a', 'succeeded')])
  const a = await streamTextsOf(db, 'run_a')
  t.deepEqual(
    a.map(([seq]) => seq),
    Array.from({ length: 60 }, (_, i) => i + 1),
  )
  t.deepEqual(a.slice(0, 3), [
    [1, 'line 0'],
    [2, 'and'],
    [3, 'line 2'],
  ])
  t.like(await readLogState(db, 'run_a'), { last: 60, eof: 'succeeded' })
  t.like(await readLogState(db, 'run_b'), { last: 60, eof: null })
  t.like(await readLogState(db, 'run_c'), { last: 0, bytes: 0, eof: null })
})

test('a repeated record changes nothing', async t => {
  const records = [lines('run_a', ['one'], 0), lines('run_a', ['two'], 1)]
  const { db } = await projected(t, [
    ...records,
    ...records,
    eof('run_a', 'failed'),
    eof('run_a', 'stopped'),
  ])
  t.deepEqual(await streamTextsOf(db, 'run_a'), [
    [1, 'one'],
    [2, 'two'],
  ])
  t.is((await readLogState(db, 'run_a')).eof, 'failed')
})

test('short records share rows, long ones are cut into rows that can be read one by one', async t => {
  const long = Array.from({ length: 9000 }, (_, i) => `${i} ${'y'.repeat(50 + (i % 7))}`)
  const { db, pool } = await projected(t, [
    ...Array.from({ length: 50 }, (_, i) => lines('run_a', [`short ${i}`], i)),
    lines('run_a', long, 50),
    lines('run_a', ['last'], 51),
  ])
  const all = await streamTextsOf(db, 'run_a')
  t.is(all.length, 9051)
  t.deepEqual(all.map(([, text]) => text).slice(50, 9050), long)
  t.deepEqual(all.at(-1), [9051, 'last'])
  const { rows } = await pool.query('select first_seq from log_chunks order by first_seq')
  t.true(rows.length >= 4 && rows.length < 12, `${rows.length} rows`)
})

test('lines are found forward from a number, backward from a number, and by their text', async t => {
  const { db } = await projected(
    t,
    Array.from({ length: 40 }, (_, i) => lines('run_a', [`even ${2 * i}`, `odd ${2 * i + 1}`], i)),
  )
  const seqs = (found: { lines: { seq: number }[] }) => found.lines.map(line => line.seq)
  const forward = await searchForward(db, 'run_a', {
    from: 10,
    limit: 3,
    matcher: matcherOf({}),
    last: 80,
  })
  t.deepEqual(seqs(forward), [11, 12, 13])
  const backward = await searchBackward(db, 'run_a', { from: 81, limit: 3, matcher: matcherOf({}) })
  t.deepEqual(seqs(backward), [78, 79, 80])
  const found = await searchForward(db, 'run_a', {
    from: 0,
    limit: 9,
    matcher: matcherOf({ grep: 'odd 7' }),
    last: 80,
  })
  t.deepEqual(
    found.lines.map(line => line.text),
    ['odd 7', 'odd 71', 'odd 73', 'odd 75', 'odd 77', 'odd 79'],
  )
  t.is(found.scannedTo, 80)
  const none = await searchForward(db, 'run_a', {
    from: 0,
    limit: 9,
    matcher: matcherOf({ rank: 1 }),
    last: 80,
  })
  t.deepEqual(none.lines, [])
})

test('bytes that are not a fact are parked, and the lines around them stay', async t => {
  const { db, pool, dead } = await projected(t, [
    lines('run_a', ['one'], 0),
    { key: 'run_a', value: Buffer.from('nonsense') },
    lines('run_a', ['two'], 1),
  ])
  t.deepEqual(await streamTextsOf(db, 'run_a'), [
    [1, 'one'],
    [2, 'two'],
  ])
  t.deepEqual(dead, [topic])
  const { rows } = await pool.query('select key, "offset" from dead_letter')
  t.deepEqual(rows, [{ key: 'run_a', offset: 1 }])
})
