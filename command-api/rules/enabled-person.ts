import type { Pool } from 'pg'
import type { Transaction } from '../commit/event-store.ts'

/** The role of a person who may sign in; null for anybody else. */
export async function roleIfEnabled(
  db: Pool | Transaction,
  username: string,
): Promise<'admin' | 'operator' | null> {
  const { rows } = await db.query<{ role: 'admin' | 'operator' }>(
    'select role from auth.person where username = $1 and not disabled',
    [username],
  )
  return rows[0]?.role ?? null
}
