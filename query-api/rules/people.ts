import type { Pool } from 'pg'
import type { QuotaTables } from '../../projector/quotas/table.ts'
import type { Reads } from '../reading/reads.ts'

/** Dependencies of routes about people: accounts and quotas. */
export type PeopleDeps = {
  reads: Reads<QuotaTables>
  /** Can read the schema `auth`. */
  pool: Pool
}

export async function countPeople(pool: Pool): Promise<number> {
  const { rows } = await pool.query('select count(*) as count from auth.person')
  return rows[0]?.count
}
