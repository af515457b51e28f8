import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { Pool } from 'pg'
import { pino } from 'pino'
import { recordHardware } from '../../command-api/hardware/record.ts'
import { recordTraffic } from '../../events/traffic.ts'
import type { EventLog, LogRecord, Position, ReadRecord } from '../../platform/log/event-log.ts'
import { openPostgresLog } from '../../platform/log/postgres.ts'
import { migrate } from '../../platform/postgres/migrate.ts'
import { createPool } from '../../platform/postgres/pool.ts'
import { inProcessSignals } from '../../platform/signals.ts'
import { hardwareProjection } from '../../projector/hardware/projection.ts'
import { logsProjection } from '../../projector/logs/projection.ts'
import { compactDue, compactRun, startCompactor } from '../../projector/metrics/compact.ts'
import { metricsProjection } from '../../projector/metrics/projection.ts'
import { carryOverRuns, prepareCarryOver } from '../../projector/rebuild/carry-over.ts'
import { rebuild } from '../../projector/rebuild/rebuild.ts'
import { applyIsolated } from '../../projector/runner/poison.ts'
import { startRunner } from '../../projector/runner/runner.ts'
import { trafficProjection } from '../../projector/traffic/projection.ts'
import { validationProjection } from '../../projector/validation/projection.ts'
import { encodedFact } from '../encoded-fact.ts'
import { row } from '../gateway/row.ts'
import { report, startMs } from '../metrics/given.ts'
import { mayStayIdle, sessionLocks, untilLockWaits } from '../servers/lock-waits.ts'
import { database } from '../servers/postgres.ts'
import { until } from '../servers/until.ts'
import { chunkOf } from '../validation/given.ts'
import { logLines } from './log-lines.ts'
import { contentOf } from './read-model-content.ts'

const topics = ['metrics', 'logs', 'validation', 'hardware', 'traffic'].map(name => ({
  name,
  partitions: 2,
  retentionDays: 30,
}))
const logger = pino({ level: 'silent' })
const readMigrations = join(import.meta.dirname, '../../projector/migrations')
const newProjections = () => [
  metricsProjection('metrics'),
  logsProjection('logs'),
  validationProjection('validation'),
  hardwareProjection('hardware'),
  trafficProjection('traffic'),
]
const { signal } = new AbortController()
const rangeRows = 3

function startCompactorOf(url: string, schema: string, now: () => Date) {
  const pool = createPool(url, { max: 1, searchPath: schema, applicationName: 'compactor' })
  const compactor = startCompactor({ pool, logger, now })
  return {
    async stop() {
      await compactor.stop()
      await pool.end()
    },
  }
}

/** A log and the projections of its topics. */
async function installation(t: ExecutionContext) {
  const db = await database(t)
  const log = await openPostgresLog({ url: db.url, topics })
  const theLog = log
  await db.pool.query('update log.lane set leaf_records = 10')
  const readPool = createPool(db.url, { max: 10, searchPath: 'read', applicationName: t.title })
  const runners = newProjections().map(projection =>
    startRunner(projection, {
      pool: readPool,
      log,
      logger,
      signals: inProcessSignals(),
      onDeadLetter: () => {},
    }),
  )
  t.teardown(async () => {
    for (const runner of runners) await runner.stop()
    await log.close()
    await readPool.end()
  })
  const appended: { record: LogRecord; position: Position }[] = []
  return {
    url: db.url,
    readPool,
    log,
    /** All records ever appended, by topic and partition. */
    appended,
    async append(topic: string, record: LogRecord) {
      const [position] = await log.append(topic, [record])
      if (position) appended.push({ record, position })
    },
    /** Resolves once everything is in the tables. */
    projected: () =>
      until('the log is projected', 50_000, async () => {
        const { rows } = await readPool.query(
          `select count(*) as behind from log.lane l left join projection_checkpoint c using (topic, partition)
            where l.next_offset > coalesce(c.next_offset, 0)`,
        )
        return rows[0]?.behind === 0
      }),
    async trim() {
      const before = new Date(Date.now() + 60_000)
      let gone = 0
      for (const { name } of topics)
        gone += await log.trim(name, { before, keepFrom: await log.end(name) })
      return gone
    },
    /** `now`: by default nothing has waited long enough to be compacted. */
    rebuild: (now = () => new Date(startMs), log: EventLog = theLog) =>
      rebuild({
        pool: db.pool,
        openPool: schema =>
          createPool(db.url, { max: 4, searchPath: schema, applicationName: 'rebuild' }),
        createSchema: schema => migrate(db.url, [{ schema, folder: readMigrations }]),
        projections: newProjections,
        log,
        logger,
        rangeRows,
        onProgress: () => {},
        startCompactor: schema => startCompactorOf(db.url, schema, now),
        now,
        signal,
      }),
  }
}

/** Compacts and settles all runs, with a clock by which they have been silent for a long time. */
async function compact(pool: Pool, idleMs = 3_600_000) {
  const now = () => new Date(startMs + idleMs)
  while ((await compactDue({ pool, logger, now }, signal)) > 0);
}

type Installation = Awaited<ReturnType<typeof installation>>

const loss = (step: number, value = step) => ({ key: 'loss', step, value })
const range = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => loss(from + i))

const lines = (run_id: string, seq: number): LogRecord =>
  logLines(run_id, {
    seq,
    producer: `p${seq % 3}`,
    chunks: [`${seq}: ${'long '.repeat(2000)}`, 'and short'],
  })
/** Each chunk is repeated in a later round, with other samples. */
const chunkAgain = (run: string, n: number) => {
  const samples = [n, n + 1].map(reward => ({ user: `prompt ${reward % 4}`, reward }))
  return chunkOf(run, { step: n % 3, chunk_index: n % 2, total_chunks: 2, samples, receivedMs: n })
}
/** GPUs appear one by one, and some samples repeat an earlier time. */
const samples = (run_id: string, n: number): LogRecord => ({
  key: run_id,
  value: encodedFact(
    recordHardware({
      run_id,
      points: [0, n].map(index => ({
        ts: new Date(startMs + (n % 3) * 1000).toISOString(),
        scope: 'gpu' as const,
        index,
        [`reading_${n}`]: n,
      })),
    }).fact,
    startMs,
  ),
})
/** Requests of a deployment with this name. Each is repeated four times, before and after the trim. */
const requests = (deployment_id: string, n: number): LogRecord => {
  const nth = n - (n % 4)
  const one = row({
    ...{ request_id: `${deployment_id}-${nth}`, deployment_id, token_id: `dtk_${nth}` },
    started_at: `2026-11-0${nth + 1}T12:00:00Z`,
  })
  return { key: deployment_id, value: encodedFact(recordTraffic(deployment_id, [one])) }
}
const damaged = (key: string): LogRecord => ({ key, value: Buffer.from('no fact') })

/** Round `n` of reports of several runs: new steps, repeated steps, new keys, and damaged records. */
async function reportAll(at: Installation, n: number, runs: readonly string[]) {
  for (const run of runs) {
    await at.append('metrics', report(run, [...range(n * 5, n * 5 + 7), loss(0, n)]))
    await at.append('metrics', report(run, [{ key: `key_${n % 7}`, step: n, value: 'NaN' }]))
    await at.append('logs', lines(run, n))
    await at.append('validation', chunkAgain(run, n))
    await at.append('hardware', samples(run, n))
    await at.append('traffic', requests(run, n))
  }
  await at.append('metrics', damaged(runs[n % runs.length] ?? ''))
  await at.append('logs', damaged(`run_unseen_${n}`))
}

const oldRuns = Array.from({ length: 9 }, (_, i) => `run_old_${i}`)
const youngRuns = Array.from({ length: 4 }, (_, i) => `run_young_${i}`)

/** Runs whose first records are trimmed, compacted except for the last points, and runs that are still on the log. */
async function trimmed(t: ExecutionContext): Promise<Installation> {
  const at = await installation(t)
  for (let n = 0; n < 6; n++) await reportAll(at, n, oldRuns)
  await at.projected()
  await compact(at.readPool)
  t.true((await at.trim()) > 0)
  for (let n = 6; n < 8; n++) await reportAll(at, n, [...oldRuns.slice(3), ...youngRuns])
  await at.projected()
  return at
}

/** The tables without any trimming: all records applied in the order of the log, and compacted. */
async function replayedFromTheBeginning(
  t: ExecutionContext,
  { appended }: Installation,
  idleMs = 3_600_000,
) {
  const { pool } = await database(t, { schema: 'read' })
  const tx = await pool.connect()
  await tx.query('begin')
  for (const projection of newProjections())
    for (const partition of [0, 1]) {
      const records: ReadRecord[] = appended
        .filter(({ position: p }) => p.topic === projection.topic && p.partition === partition)
        .map(({ record, position: { offset } }) => ({ ...record, offset }))
        .sort((a, b) => Number(a.offset - b.offset))
      const batch = { topic: projection.topic, partition, records }
      await applyIsolated(tx, projection, [batch], () => {})
    }
  await tx.query('commit')
  tx.release()
  await compact(pool, idleMs)
  return contentOf(pool)
}

test.serial('a rebuild after a trim gives the same tables as before', async t => {
  const at = await trimmed(t)
  const before = await contentOf(at.readPool)
  t.is(before.runs.length, 13)
  t.true(before.rest.length > 13)
  await at.rebuild()
  const after = await contentOf(at.readPool)
  t.is(after.summaries.length, before.summaries.length)
  // Until the compaction, a summary depends on the batches of its points.
  t.deepEqual({ ...after, summaries: [], runs: [] }, { ...before, summaries: [], runs: [] })
  await compact(at.readPool)
  const replayed = await replayedFromTheBeginning(t, at)
  t.deepEqual(await contentOf(at.readPool), replayed)
})

test.serial(
  'runs that the log no longer holds are carried over a few rows at a time, the others are replayed',
  async t => {
    const at = await trimmed(t)
    const writers = (table: string, where: string) =>
      at.readPool.query<{ rows: number }>(
        `select count(*) as rows from ${table} where ${where} group by xmin::text`,
      )
    const lost = `(select run_no from metric_run where run_id like 'run_old_%')`
    await at.rebuild()
    for (const [table, where] of [
      ['metric_chunk', `run_no in ${lost}`],
      ['log_chunks', `run_id like 'run_old_%'`],
    ] as const) {
      const { rows } = await writers(table, where)
      t.true(rows.length > 5, `${table} was carried over in ${rows.length} transactions`)
      t.true(rows.every(({ rows }) => rows <= rangeRows + 1))
    }
    const { rows } = await at.readPool.query(
      `select count(*) as chunks from metric_chunk join metric_run using (run_no) where run_id like 'run_young_%'`,
    )
    t.is(rows[0].chunks, 0, 'replayed records are not compacted yet')
  },
)

test.serial(
  'points and lines that arrive during a rebuild after a trim are all stored, each once',
  async t => {
    const at = await trimmed(t)
    let isRunning = true
    const write = async () => {
      for (let n = 8; isRunning && n < 30; n++)
        await reportAll(at, n, [...oldRuns.slice(6), youngRuns[n % 4] ?? '', `run_late_${n}`])
    }
    const compactOften = async () => {
      for (let n = 0; isRunning; n++) await compact(at.readPool, 3_600_000 + n)
    }
    const rebuilding = at.rebuild().finally(() => {
      isRunning = false
    })
    await Promise.all([rebuilding, write(), compactOften()])
    await at.projected()
    const { rows } = await at.readPool.query('select number from generation')
    t.deepEqual(rows, [{ number: 2 }])
    await compact(at.readPool, 7_200_000)
    const replayed = await replayedFromTheBeginning(t, at, 7_200_000)
    t.deepEqual(await contentOf(at.readPool), replayed)
  },
)

test.serial('a run is not compacted while it is carried over', async t => {
  const at = await trimmed(t)
  const { rows } = await at.readPool.query(
    "select run_no from metric_run where run_id like 'run_old_%' order by run_no",
  )
  await migrate(at.url, [{ schema: 'read_next', folder: readMigrations }])
  const blocking = await at.readPool.connect()
  await blocking.query('begin')
  await mayStayIdle(blocking)
  await blocking.query('lock table read_next.metric_chunk in exclusive mode')
  await prepareCarryOver(at.readPool)
  const deps = { pool: at.readPool, rangeRows: 100_000, signal }
  const carrying = carryOverRuns(deps, metricsProjection('metrics'), await at.log.start('metrics'))
  await untilLockWaits(at.readPool, 'a range waits')
  const compacted = async () => {
    const done: boolean[] = []
    for (const { run_no } of rows) done.push(await compactRun(at.readPool, run_no, startMs))
    return done
  }
  const meanwhile = await compacted()
  await blocking.query('rollback')
  blocking.release()
  await carrying
  t.deepEqual([...new Set(meanwhile)], [false])
  t.deepEqual([...new Set(await compacted())], [true])
})

test.serial('what a rebuild has built is compacted and analysed before it goes live', async t => {
  const at = await trimmed(t)
  await at.rebuild(() => new Date(startMs + 3_600_000))
  const { rows } = await at.readPool.query(
    `select (select count(*) from metric_block) as blocks, (select count(*) from metric_run where live) as live,
            (select reltuples from pg_class where oid = 'metric_run'::regclass) as counted`,
  )
  t.deepEqual(rows, [{ blocks: 0, live: 0, counted: 13 }])
})

test.serial(
  'while a compaction delays the flip, the replay continues and leaves little work under the lock',
  async t => {
    const at = await installation(t)
    await reportAll(at, 0, youngRuns)
    await at.projected()
    const compacting = await at.readPool.connect()
    await compacting.query('begin')
    await mayStayIdle(compacting)
    await compacting.query('lock table generation in row share mode')
    // Counts the records read while the live projections are stopped.
    let underLock = 0
    const standsStill = async () =>
      (await sessionLocks(at.readPool)).some(
        ({ relation, mode, granted }) =>
          relation === 'projection_checkpoint' && mode === 'ExclusiveLock' && granted,
      )
    const watched: EventLog = {
      ...at.log,
      async *read(...asked) {
        for await (const batch of at.log.read(...asked)) {
          if (await standsStill()) underLock += batch.records.length
          yield batch
        }
      },
    }
    const rebuilding = at.rebuild(undefined, watched)
    await untilLockWaits(
      at.readPool,
      'the flip waits for the compaction',
      ({ relation }) => relation === 'generation',
    )
    for (let n = 1; n < 30; n++) await reportAll(at, n, youngRuns)
    await at.projected()
    await compacting.query('commit')
    compacting.release()
    await rebuilding
    t.is(underLock, 0)
    const { rows } = await at.readPool.query('select number from generation')
    t.deepEqual(rows, [{ number: 2 }])
  },
)
