import test from 'ava'
import { pino } from 'pino'
import { LogUnavailable, LogUnreadable } from '../../platform/log/event-log.ts'
import { createMemoryLog } from '../../platform/log/memory.ts'
import { partitionOf } from '../../platform/log/partition.ts'
import { schemaLock } from '../../platform/postgres/locks.ts'
import { createPool } from '../../platform/postgres/pool.ts'
import { withLock } from '../../platform/postgres/with-lock.ts'
import { inProcessSignals } from '../../platform/signals.ts'
import { logsProjection } from '../../projector/logs/projection.ts'
import { startRunner } from '../../projector/runner/runner.ts'
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

test('a failed projection does not count as halted while another process projects', async t => {
  const db = await database(t, { schema: 'read' })
  const pool = createPool(db.url, { max: 3, searchPath: 'read', applicationName: 'runner' })
  const log = createMemoryLog([{ name: topic, partitions: 1, retentionDays: null }])
  const runner = startRunner(logsProjection(topic), {
    pool,
    log: { ...log, end: () => Promise.reject(new LogUnavailable('away')) },
    signals: inProcessSignals(),
    logger: pino({ level: 'silent' }),
    onDeadLetter: one => t.fail(`parked ${one}`),
  })
  await until('it failed', 15_000, () => runner.status().halted === 'away')
  await withLock(pool, { lock: schemaLock('logs'), waitMs: 10_000 }, async () => {
    await until('it is no longer halted', 15_000, () => runner.status().halted === null)
    await runner.stop()
  })
  t.is(runner.status().halted, null)
  await pool.end()
})

test('an unreadable partition is named while the others continue, and resumes once it is readable', async t => {
  const db = await database(t, { schema: 'read' })
  const pool = createPool(db.url, { max: 3, searchPath: 'read', applicationName: 'runner' })
  const log = createMemoryLog([{ name: topic, partitions: 2, retentionDays: null }])
  const [key0 = '', key1 = ''] = [0, 1].map(partition =>
    Array.from({ length: 9 }, (_, n) => `run-${n}`).find(key => partitionOf(key, 2) === partition),
  )
  let isDamaged = true
  const applied: string[] = []
  const runner = startRunner(
    {
      ...logsProjection(topic),
      async apply(_, batches) {
        applied.push(...batches.flatMap(({ records }) => records.map(({ key }) => key)))
      },
    },
    {
      pool,
      log: {
        ...log,
        async *read(name, partition, from, options) {
          for await (const batch of log.read(name, partition, from, options)) {
            if (partition === 1 && isDamaged)
              throw new LogUnreadable(name, partition, from, new Error('garbage'))
            yield batch
          }
        },
      },
      signals: inProcessSignals(),
      logger: pino({ level: 'silent' }),
      onDeadLetter: one => t.fail(`parked ${one}`),
    },
  )
  const append = (key: string) => log.append(topic, [{ key, value: Buffer.from('x') }])
  await append(key1)
  await until('it names the unreadable partition', 15_000, () => runner.status().halted)
  t.regex(runner.status().halted ?? '', /^Partition 1 of forge\.logs .* offset 0 on: garbage$/)
  await append(key0)
  await until('the other partition continues', 15_000, () => applied.includes(key0))
  t.truthy(runner.status().halted)
  isDamaged = false
  await until('it continues', 15_000, () => applied.includes(key1))
  t.is(runner.status().halted, null)
  t.deepEqual(applied, [key0, key1])
  await runner.stop()
  await pool.end()
})
