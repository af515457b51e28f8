import type { Pool } from 'pg'
import { pino } from 'pino'
import { decisionEvents } from '../../events/all.ts'
import type { Recorded } from '../../events/event.ts'
import { createMemoryLog } from '../../platform/log/memory.ts'
import { createPool } from '../../platform/postgres/pool.ts'
import { inProcessSignals } from '../../platform/signals.ts'
import { decisionProjections } from '../../projector/compose.ts'
import { decisionsProjection } from '../../projector/decisions.ts'
import { startRunner } from '../../projector/runner/runner.ts'
import { until } from './until.ts'

const topic = 'test.decisions'

/** Puts decision events through the real runner, **each one twice**; resolves when they are applied. */
export async function project(pool: Pool, events: readonly Recorded[]): Promise<void> {
  const log = createMemoryLog([{ name: topic, partitions: 1, retentionDays: null }])
  const records = events.map(event => ({
    key: event.stream,
    value: Buffer.from(JSON.stringify(event)),
  }))
  for (const record of records) await log.append(topic, [record, record])
  const readPool = createPool(String(pool.options.connectionString), {
    max: 3,
    searchPath: 'read',
    applicationName: 'forge test projection',
  })
  const runner = startRunner(decisionsProjection(topic, decisionProjections, decisionEvents), {
    pool: readPool,
    log,
    signals: inProcessSignals(),
    logger: pino({ level: 'silent' }),
    onDeadLetter: () => {},
  })
  await until('all events are applied', 15_000, () => {
    const { halted, checkpoints } = runner.status()
    if (halted !== null) throw new Error(`the projection halted: ${halted}`)
    return checkpoints[0] === BigInt(records.length * 2)
  })
  await runner.stop()
  await readPool.end()
}
