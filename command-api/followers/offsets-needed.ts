import type { Pool } from 'pg'
import type { Logger } from 'pino'

type Following = {
  pool: Pool
  followers: readonly { name: string; topic: string }[]
  logger: Logger
}

/**
 * The lowest offset of each partition that a follower still has to read; null for a topic without followers. Rows of
 * followers unknown to this version (removed, or added by a newer one) do not count, because they may never move.
 */
export function offsetsNeeded({ pool, followers, logger }: Following) {
  const told = new Set<string>()
  const tellOnce = (follower: string, topic: string) => {
    const pair = `${follower} ${topic}`
    if (!told.has(pair))
      logger.warn(
        { follower, topic },
        'this program does not have the follower: records that it has yet to read may be trimmed (docs/operate/retention.md)',
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
    // Without a row for a partition, assume that the follower needs all of it.
    return Array.from({ length: topic.partitions }, (_, partition) =>
      reading
        .map(({ next_offsets }) => BigInt(next_offsets[partition] ?? 0))
        .reduce((low, offset) => (offset < low ? offset : low)),
    )
  }
}
