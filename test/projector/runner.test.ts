import test from 'ava'
import { pino } from 'pino'
import { LogUnavailable } from '../../platform/log/event-log.ts'
import { createMemoryLog } from '../../platform/log/memory.ts'
import { createPool } from '../../platform/postgres/pool.ts'
import { inProcessSignals } from '../../platform/signals.ts'
import { logsProjection } from '../../projector/logs/projection.ts'
import { startRunner } from '../../projector/runner.ts'
import { database } from '../servers/postgres.ts'
import { until } from '../servers/until.ts'

const topic = 'forge.logs'

test('a projection recovers with the log, even without new records', async t => {
  const db = await database(t, { schema: 'read' })
  const pool = createPool(db.url, { max: 3, searchPath: 'read', applicationName: 'runner' })
  const log = createMemoryLog([{ name: topic, partitions: 1, retentionDays: null }])
  let away = true
  const runner = startRunner(logsProjection(topic), {
    pool,
    log: {
      ...log,
      end: async name => {
        if (away) throw new LogUnavailable('away')
        return await log.end(name)
      },
    },
    signals: inProcessSignals(),
    logger: pino({ level: 'silent' }),
    onDeadLetter: one => t.fail(`parked ${one}`),
  })
  await until('it says that the log is away', 15_000, () => runner.status().halted === 'away')
  away = false
  await until('it is well again', 15_000, () => runner.status().halted === null)
  t.deepEqual(runner.status().checkpoints, [0n])
  await runner.stop()
  await pool.end()
})
