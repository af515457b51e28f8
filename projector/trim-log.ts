import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { forEachApart } from '../platform/each.ts'
import type { PostgresLog } from '../platform/log/postgres.ts'
import type { Topic } from '../platform/log/topic.ts'
import { locks } from '../platform/postgres/locks.ts'
import { tryWithLock } from '../platform/postgres/with-lock.ts'
import type { Clock } from '../platform/time.ts'
import { live } from './generations.ts'
import type { TopicProjection } from './projection.ts'

/** Returns the lowest offset of each partition that a reader still needs; null if it does not read the topic. */
export type StillReads = (topic: Topic) => Promise<readonly bigint[] | null>

export type TrimLogDeps = {
  /** Connections without a search path. */
  pool: Pool
  trim: PostgresLog['trim']
  topics: readonly Topic[]
  readers: readonly StillReads[]
  logger: Logger
  now: Clock
}

const dayMs = 86_400_000

/**
 * Drops the records of each topic that all readers have read and that exceed its retention or size. Returns false
 * if another process is trimming, or during a rebuild, which reads the log from the beginning.
 */
export const trimLog = (deps: TrimLogDeps): Promise<boolean> =>
  tryWithLock(deps.pool, locks.logTrim, async () => {
    const failures: unknown[] = []
    await forEachApart(
      deps.topics,
      topic => trimTopic(deps, topic),
      (error, { name: topic }) => {
        deps.logger.error({ err: error, topic }, 'the log of this topic could not be trimmed')
        failures.push(error)
      },
    )
    // Retried as a whole: topics that are already trimmed cost nothing.
    if (failures.length > 0) throw failures[0]
  })

async function trimTopic(deps: TrimLogDeps, topic: Topic): Promise<void> {
  const { name, retentionDays, maxBytes } = topic
  if (retentionDays === null) return
  const records = await deps.trim(name, {
    before: new Date(deps.now().getTime() - retentionDays * dayMs),
    keepFrom: await keepFrom(deps.readers, topic),
    ...(maxBytes !== undefined && { maxBytes }),
  })
  if (records > 0) deps.logger.info({ topic: name, records, retentionDays }, 'the log was trimmed')
}

/** The lowest offset of each partition that any reader needs. Topics without readers are trimmed by age alone. */
async function keepFrom(readers: readonly StillReads[], topic: Topic): Promise<bigint[]> {
  const needed: (readonly bigint[])[] = []
  for (const reader of readers) {
    const offsets = await reader(topic)
    if (offsets !== null) needed.push(offsets)
  }
  const unread = 2n ** 63n - 1n
  return Array.from({ length: topic.partitions }, (_, partition) =>
    needed
      .map(offsets => offsets[partition] ?? 0n)
      .reduce((low, offset) => (offset < low ? offset : low), unread),
  )
}

/** The lowest offsets that the live projections still need; 0 if one of them has not started. */
export const projectionsRead =
  (pool: Pool, projections: readonly TopicProjection[]): StillReads =>
  async topic => {
    const names = projections.filter(one => one.topic === topic.name).map(({ name }) => name)
    if (names.length === 0) return null
    const { rows } = await pool.query(
      `select coalesce(min(coalesce(c.next_offset, 0)), 0)::text as needed
         from generate_series(0, $3::int - 1) p cross join unnest($2::text[]) n (name)
         left join ${live}.projection_checkpoint c
           on (c.topic, c.partition, c.projection) = ($1, p, n.name)
        group by p order by p`,
      [topic.name, names, topic.partitions],
    )
    return rows.map(({ needed }) => BigInt(needed))
  }
