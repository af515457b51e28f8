import type { Pool } from 'pg'
import { pino } from 'pino'
import { startRelay } from '../../command-api/relay/relay.ts'
import type { EventLog } from '../../platform/log/event-log.ts'
import { until } from '../../test/servers/until.ts'

/** Publishes all waiting events and returns the events per second. */
export async function measureRelay(
  { pool, log, topic }: { pool: Pool; log: EventLog; topic: string },
  events: number,
): Promise<number> {
  const began = performance.now()
  const relay = startRelay({ pool, log, topic, logger: pino({ level: 'warn' }) })
  await until('everything is published', 120_000, async () => {
    const { rows } = await pool.query(
      `select position = (select max(position) from write.event) as done from write.relay_cursor`,
    )
    return rows[0]?.done === true
  })
  await relay.stop()
  return events / ((performance.now() - began) / 1000)
}
