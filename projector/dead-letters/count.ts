import type { Pool } from 'pg'
import { live } from '../generations.ts'

/** How many records are parked, by topic. */
export async function countParked(pool: Pool): Promise<{ topic: string; parked: number }[]> {
  const { rows } = await pool.query<{ topic: string; parked: number }>({
    name: 'count_dead_letters',
    text: `select topic, count(*) as parked from ${live}.dead_letter group by topic order by topic`,
  })
  return rows
}
