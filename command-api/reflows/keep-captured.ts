import type { Pool } from 'pg'
import { textLock } from '../../platform/postgres/locks.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { tryShareInTransaction } from '../../platform/postgres/with-lock.ts'
import type { CapturedRow } from '../../schemas/captured.ts'

/** Shared by writers of captured requests, and taken alone to see how far they have come. */
export const capturedLock = 'captured requests'

/** Stores rows, each once however often it is sent. Throws while a firing looks how far they have come; try again. */
export async function keepCaptured(pool: Pool, rows: readonly CapturedRow[]): Promise<void> {
  await inTransaction(pool, async tx => {
    if (!(await tryShareInTransaction(tx, textLock(capturedLock))))
      throw new Error('a reflow is looking at captured requests')
    await tx.query({
      name: 'keep_captured',
      text: `insert into write.captured_request (request_id, deployment_id, token_id, subject, started_at, sealed)
             select r.request_id, r.deployment_id, r.token_id, r.subject, r.started_at, r.sealed
               from jsonb_to_recordset($1) as r
                    (request_id text, deployment_id text, token_id text, subject text, started_at timestamptz, sealed text)
             on conflict (request_id) do nothing`,
      values: [JSON.stringify(rows)],
    })
  })
}

/** Counts pairs that could not be kept. */
export async function countDropped(
  pool: Pool,
  deployment_id: string,
  { dropped, now }: { dropped: number; now: Date },
): Promise<void> {
  await pool.query(
    `insert into write.captured_drop as d (deployment_id, dropped, dropped_at) values ($1, $2, $3)
     on conflict (deployment_id) do update set dropped = d.dropped + excluded.dropped, dropped_at = excluded.dropped_at`,
    [deployment_id, dropped, now],
  )
}
