import type { Pool } from 'pg'

export async function countPeople(pool: Pool): Promise<number> {
  const { rows } = await pool.query('select count(*) as count from auth.person')
  return rows[0]?.count
}
