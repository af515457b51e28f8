import type { Recorded } from '../../events/event.ts'
import type { EventLog } from '../../platform/log/event-log.ts'
import { until } from '../servers/until.ts'

/** The decisions on the log, in order, once there are `count`. */
export async function published(log: EventLog, topic: string, count: number): Promise<Recorded[]> {
  await until('everything is published', 15_000, async () => {
    const [end] = await log.end(topic)
    return Number(end) >= count
  })
  const stop = new AbortController()
  const events: Recorded[] = []
  for await (const batch of log.read(topic, 0, 0n, { maxBytes: 1_000_000, signal: stop.signal })) {
    events.push(...batch.records.map(record => JSON.parse(record.value.toString('utf8'))))
    if (events.length >= count) stop.abort()
  }
  return events
}
