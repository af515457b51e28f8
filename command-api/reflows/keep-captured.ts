import type { Pool } from 'pg'
import { textLock } from '../../platform/postgres/locks.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { tryShareInTransaction } from '../../platform/postgres/with-lock.ts'
import type { CapturedRow } from '../../schemas/captured.ts'
import type { Transaction } from '../commit/event-store.ts'

/** Shared by writers of captured requests, and taken alone to see how far they have come. */
export const capturedLock = 'captured requests'

type Bounds = { limitBytes: number; now: Date }

/**
 * Stores rows, each once however often it is sent; the oldest of a deployment that has too many bytes make room for them. Throws while a
 * firing looks how far they have come; try again.
 */
export async function keepCaptured(
  pool: Pool,
  rows: readonly CapturedRow[],
  { limitBytes, now }: Bounds,
): Promise<void> {
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
    const deployments = [...new Set(rows.map(({ deployment_id }) => deployment_id))].sort()
    for (const one of deployments) await makeRoom(tx, one, { limitBytes, now })
  })
}

/** At most so many rows by one write; the next one deletes more. */
const maxEvicted = 5000

async function makeRoom(
  tx: Transaction,
  deployment_id: string,
  { limitBytes, now }: Bounds,
): Promise<void> {
  const { rows } = await tx.query<{ evicted: number }>({
    name: 'evict_captured',
    text: `with size as (select bytes - $2 as beyond from write.captured_size where deployment_id = $1 and bytes > $2),
                oldest as (select seq, octet_length(sealed) as bytes from write.captured_request
                            where deployment_id = $1 and exists (select from size) order by seq limit $3),
                upto as (select seq, sum(bytes) over (order by seq) - bytes as before from oldest),
                gone as (delete from write.captured_request
                          where seq in (select seq from upto, size where before < beyond) returning 1)
           select count(*)::int as evicted from gone`,
    values: [deployment_id, limitBytes, maxEvicted],
  })
  const evicted = rows[0]?.evicted ?? 0
  if (evicted === 0) return
  // After the deletion, whose trigger writes the same row.
  await tx.query(
    'update write.captured_size set evicted = evicted + $2, evicted_at = $3 where deployment_id = $1',
    [deployment_id, evicted, now],
  )
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
