import type { Pool } from 'pg'
import type { Logger } from 'pino'

type Following = {
  pool: Pool
  followers: readonly { name: string; topic: string }[]
  logger: Logger
}

/**
 * The first offset of each partition that a follower has yet to read; null for a topic that none follows. The row of
 * a follower that this program does not have, because it was removed or is newer, counts for nothing: it may stand
 * still for ever.
 */
export function offsetsNeeded({ pool, followers, logger }: Following) {
  const told = new Set<string>()
  const tellOnce = (follower: string, topic: string) => {
    const pair = `${follower} ${topic}`
    if (!told.has(pair))
      logger.warn(
        { follower, topic },
        'this program has no such follower: what it has yet to read may be trimmed (docs/administration.md)',
      )
    told.add(pair)
  }
  return async (topic: { name: string; partitions: number }): Promise<bigint[] | null> => {
    const known = followers.filter(one => one.topic === topic.name).map(({ name }) => name)
    const { rows } = await pool.query<{ follower: string; next_offsets: Record<number, string> }>(
      `select follower, jsonb_object_agg(partition, next_offset::text) as next_offsets
         from write.follower where topic = $1 group by follower order by follower`,
      [topic.name],
    )
    for (const { follower } of rows) if (!known.includes(follower)) tellOnce(follower, topic.name)
    const reading = rows.filter(({ follower }) => known.includes(follower))
    if (reading.length === 0) return null
    // A follower that has begun one partition has yet to begin the others.
    return Array.from({ length: topic.partitions }, (_, partition) =>
      reading
        .map(({ next_offsets }) => BigInt(next_offsets[partition] ?? 0))
        .reduce((low, offset) => (offset < low ? offset : low)),
    )
  }
}
