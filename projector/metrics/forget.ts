import type { PoolClient } from 'pg'
import { rowLock } from '../../platform/postgres/locks.ts'
import { lockInTransaction } from '../../platform/postgres/with-lock.ts'

const tables = [
  'metric_chunk',
  'metric_block',
  'metric_latest',
  'metric_settled',
  'metric_keys',
  'metric_run',
] as const

/**
 * Removes all points of a run. Waits for the compactor, which might be writing chunks of the run, and locks it out.
 */
export async function forgetRun(tx: PoolClient, run_id: string): Promise<void> {
  const { rows } = await tx.query<{ run_no: number }>(
    'select run_no from metric_run where run_id = $1',
    [run_id],
  )
  for (const { run_no } of rows) {
    await lockInTransaction(tx, rowLock('metric_run', run_no))
    for (const table of tables) await tx.query(`delete from ${table} where run_no = $1`, [run_no])
  }
}
