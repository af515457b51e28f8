import type { Pool } from 'pg'
import type { Topics } from '../../events/topics.ts'
import type { EventLog } from '../../platform/log/event-log.ts'
import { pause } from '../../platform/pause.ts'
import { projections } from '../../projector/compose.ts'
import { BackupRefused } from './refused.ts'

export type Draining = {
  log: Pick<EventLog, 'end'>
  topics: Topics
  pool: Pool
  signal: AbortSignal
  /** How long to wait, in milliseconds. */
  withinMs: number
}

const lookEveryMs = 100

/**
 * Resolves once the database has all that was acknowledged before the call. Where the log is Kafka, reports are
 * acknowledged when Kafka has them, and a backup has none of its topics: so it waits for the projections.
 */
export async function drained({ log, topics, pool, signal, withinMs }: Draining): Promise<void> {
  const deadline = performance.now() + withinMs
  const all = projections(topics)
  const ends = await Promise.all(all.map(async ({ topic }) => log.end(topic)))
  for (;;) {
    signal.throwIfAborted()
    const reached = await readReached(pool)
    const behind = all.filter(({ name, topic }, nth) =>
      (ends[nth] ?? []).some(
        (end, partition) => (reached.get(`${name} ${topic} ${partition}`) ?? 0n) < end,
      ),
    )
    if (behind.length === 0) return
    if (performance.now() > deadline)
      throw new BackupRefused(
        `The projections ${behind.map(({ name }) => name).join(', ')} have not caught up with the log within ${withinMs / 1000} s, so the database lacks reports that were acknowledged. GET /api/readyz says whether one has halted.`,
      )
    await pause(lookEveryMs, signal)
  }
}

/** The next offset of each projection, by its name, topic and partition. */
async function readReached(pool: Pool): Promise<Map<string, bigint>> {
  const { rows } = await pool.query<{ place: string; next: string }>(
    `select concat_ws(' ', projection, topic, partition) as place, next_offset::text as next
       from read.projection_checkpoint`,
  )
  return new Map(rows.map(({ place, next }) => [place, BigInt(next)]))
}
