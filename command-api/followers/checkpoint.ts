import type { Pool } from 'pg'
import type { EventLog } from '../../platform/log/event-log.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Follower } from '../effects/follower.ts'

/** The position of a follower in one partition; `next` follows the row. */
export type Checkpoint = {
  readonly follower: string
  readonly topic: string
  readonly partition: number
  next: bigint
}

/** Another process moved this checkpoint: records read here are stale and must not be acted on. */
export class LostCheckpoint extends Error {}

/** Reads the checkpoints of a follower; creates rows for new partitions. */
export async function loadCheckpoints(
  { pool, log }: { pool: Pool; log: EventLog },
  { name, begins }: Pick<Follower<never>, 'name' | 'begins'>,
  topic: string,
): Promise<Checkpoint[]> {
  const firsts = begins === 'start' ? await log.start(topic) : await log.end(topic)
  await pool.query(
    `insert into write.follower (follower, topic, partition, next_offset)
     select $1, $2, place - 1, next_offset from unnest($3::bigint[]) with ordinality as first(next_offset, place)
         on conflict do nothing`,
    [name, topic, firsts.map(String)],
  )
  const { rows } = await pool.query<{ partition: number; next_offset: string }>(
    `select partition, next_offset::text from write.follower
      where follower = $1 and topic = $2 order by partition`,
    [name, topic],
  )
  return rows.map(({ partition, next_offset }) => ({
    follower: name,
    topic,
    partition,
    next: BigInt(next_offset),
  }))
}

/** Moves the checkpoint by compare-and-set; throws `LostCheckpoint` if another process has moved it. */
export async function move(
  tx: Pool | Transaction,
  checkpoint: Checkpoint,
  next: bigint,
): Promise<void> {
  const { follower, topic, partition } = checkpoint
  const { rowCount } = await tx.query({
    name: 'follower_move',
    text: `update write.follower set next_offset = $5
            where follower = $1 and topic = $2 and partition = $3 and next_offset = $4`,
    values: [follower, topic, partition, String(checkpoint.next), String(next)],
  })
  if (rowCount !== 1) throw new LostCheckpoint(`${follower} was moved by another process`)
  checkpoint.next = next
}
