import type { Pool } from 'pg'

/** Whether no duty of this run is due. */
export async function dutiesAreDone(pool: Pool, run_id: string): Promise<boolean> {
  const { rows } = await pool.query<{ open: number }>(
    `select count(*)::int as open from write.duty
      where payload ->> 'run_id' = $1 and done_at is null and due_at <= now()`,
    [run_id],
  )
  return rows[0]?.open === 0
}

/** Whether all decisions are projected, and none of their duties is due. */
export async function decisionsAreDone(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query<{ is: boolean }>(
    `select not exists (select from write.duty where event_id is not null and done_at is null and due_at <= now())
        and (select count(*) from write.event) = (select count(*) from read.applied_event) as is`,
  )
  return rows[0]?.is === true
}
