import type { Pool } from 'pg'

/** The first offset of each partition that a follower has yet to read; null for a topic that none follows. */
export const followersRead =
  (pool: Pool) =>
  async ({ name, partitions }: { name: string; partitions: number }): Promise<bigint[] | null> => {
    const { rows } = await pool.query(
      `select partition, min(next_offset)::text as needed
         from write.follower where topic = $1 group by partition`,
      [name],
    )
    if (rows.length === 0) return null
    const needed = new Map(rows.map(row => [row.partition, BigInt(row.needed)]))
    // A follower that has begun one partition has yet to begin the others.
    return Array.from({ length: partitions }, (_, partition) => needed.get(partition) ?? 0n)
  }
