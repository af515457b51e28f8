import test from 'ava'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { logsProjection } from '../../projector/logs/projection.ts'
import { metricsProjection } from '../../projector/metrics/projection.ts'
import { report } from '../metrics/given.ts'
import { database } from '../servers/postgres.ts'
import { logLines } from './log-lines.ts'

const line = (seq: number) => logLines('run_a', { seq, producer: 'p', chunks: [`line ${seq}`] })
const point = (step: number) => report('run_a', [{ key: 'loss', step, value: step }])

// A rebuild uses it to decide whether the log still holds the whole run.
for (const [projection, table, recordOf] of [
  [metricsProjection('topic'), 'metric_run', point],
  [logsProjection('topic'), 'log_runs', line],
] as const)
  test(`the first record of a run in ${table} may be a parked one`, async t => {
    const { pool } = await database(t, { schema: 'read' })
    const batchAt = (offset: number) => ({
      topic: 'topic',
      partition: 0,
      records: [{ ...recordOf(offset), offset: BigInt(offset) }],
    })
    const firstOffset = async () => (await pool.query(`select first_offset from ${table}`)).rows
    await inTransaction(pool, tx => projection.apply(tx, [batchAt(10)]))
    await inTransaction(pool, tx => projection.applyParked(tx, batchAt(12)))
    t.deepEqual(await firstOffset(), [{ first_offset: 10 }])
    await inTransaction(pool, tx => projection.applyParked(tx, batchAt(5)))
    t.deepEqual(await firstOffset(), [{ first_offset: 5 }])
    await inTransaction(pool, tx => projection.apply(tx, [batchAt(13)]))
    t.deepEqual(await firstOffset(), [{ first_offset: 5 }])
  })
