import type { PoolClient } from 'pg'

/** Lets the relay publish every decision again. Followers and projections recognise events by their ids. */
export async function publishAgain(tx: PoolClient, topic: string): Promise<void> {
  await tx.query(`update write.relay_cursor set epoch = 0, xid = '0', position = 0`)
  await tx.query('update write.follower set next_offset = 0 where topic = $1', [topic])
}

/** Lets the followers of facts read on at the beginning of another log. */
export async function followNewLog(tx: PoolClient): Promise<void> {
  await tx.query('update write.follower set next_offset = 0')
  await tx.query('delete from write.follower_dead_letter')
}
