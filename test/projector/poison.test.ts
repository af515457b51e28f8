import { randomBytes } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import { pino } from 'pino'
import { encodeFact } from '../../events/fact.ts'
import { encodeLogs } from '../../events/logs.ts'
import type { LogRecord } from '../../platform/log/event-log.ts'
import { createMemoryLog } from '../../platform/log/memory.ts'
import { createPool } from '../../platform/postgres/pool.ts'
import { inProcessSignals } from '../../platform/signals.ts'
import { logsProjection } from '../../projector/logs/projection.ts'
import { metricsProjection } from '../../projector/metrics/projection.ts'
import { startRunner } from '../../projector/runner/runner.ts'
import { report } from '../metrics/given.ts'
import { mayStayIdle } from '../servers/lock-waits.ts'
import { database } from '../servers/postgres.ts'
import { until } from '../servers/until.ts'

const logs = (body: Buffer): LogRecord => ({
  key: 'run_a',
  value: encodeFact({
    type: 'logs.appended',
    event_id: '01900000-0000-7000-8000-000000000000',
    received_at_ms: 1_790_000_000_000,
    run_id: 'run_a',
    attempt: 1,
    actor: { type: 'run', id: 'run_a', via: 'ingest_token' },
    request_id: 'r',
    body,
  }),
})
const place = { node: null, rank: null, stream: 'stdout' }
const line = (text: string) =>
  logs(encodeLogs({ ...place, origin: 'report', producer: '', seq: null, chunks: [text] }))
const plain = (text: string) => logs(Buffer.concat([Buffer.of(0), Buffer.from(text)]))

/** A running projection on an empty log. */
async function projecting(t: ExecutionContext, projection = logsProjection('facts')) {
  const db = await database(t, { schema: 'read' })
  const log = createMemoryLog([{ name: 'facts', partitions: 1, retentionDays: null }])
  const pool = createPool(db.url, {
    max: 3,
    searchPath: 'read',
    applicationName: 'runner',
    lockTimeoutMs: 100,
  })
  const runner = startRunner(projection, {
    pool,
    log,
    signals: inProcessSignals(),
    logger: pino({ level: 'silent' }),
    onDeadLetter: () => {},
  })
  t.teardown(async () => {
    await runner.stop()
    await pool.end()
  })
  return {
    ...db,
    append: (...records: LogRecord[]) => log.append('facts', records),
    halted: (why: RegExp) =>
      until(`halted with ${why}`, 15_000, () => why.test(runner.status().halted ?? '')),
    reached: (offset: bigint) =>
      until(`offset ${offset} is reached`, 15_000, () => runner.status().checkpoints[0] === offset),
    async parked() {
      const { rows } = await db.pool.query('select "offset" from dead_letter order by "offset"')
      return rows.map(({ offset }) => offset)
    },
  }
}

for (const [what, record] of [
  ['quotes a word of an outage', plain('connection timeout')],
  ['quotes a NUL', plain('\0\0')],
  ['is one of Node', plain(JSON.stringify({ ...place, origin: 'output', offset: 0 }))],
] as const)
  test(`a record whose error ${what} is parked`, async t => {
    const at = await projecting(t)
    await at.append(line('one'), record, line('two'))
    await at.reached(3n)
    t.deepEqual(await at.parked(), [1])
  })

test('a record with a name too long for an index is parked', async t => {
  const at = await projecting(t, metricsProjection('facts'))
  const key = randomBytes(9000).toString('base64')
  await at.append(report('run_a', [{ key, step: 1, value: 1 }]))
  await at.append(report('run_a', [{ key: 'loss', step: 1, value: 1 }]))
  await at.reached(2n)
  t.deepEqual(await at.parked(), [0])
})

test('tables of a newer version park no record', async t => {
  const at = await projecting(t)
  await at.pool.query('alter table log_runs rename column bytes to octets')
  await at.append(line('one'))
  await at.halted(/column .*bytes/)
  await at.pool.query('alter table log_runs rename column octets to bytes')
  await at.reached(1n)
  t.deepEqual(await at.parked(), [])
})

test('a lock does not cause the neighbour of a damaged record to be parked', async t => {
  const at = await projecting(t)
  await at.append(line('the run is there'))
  await at.reached(1n)
  const other = await at.pool.connect()
  await other.query('begin')
  await mayStayIdle(other)
  await other.query('lock table log_chunks in exclusive mode')
  await at.append(plain('damaged'), line('good'))
  await at.halted(/lock timeout/)
  await other.query('rollback')
  other.release()
  await at.reached(3n)
  t.deepEqual(await at.parked(), [1])
})
