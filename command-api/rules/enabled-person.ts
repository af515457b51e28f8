import type { Pool } from 'pg'
import type { Transaction } from '../commit/event-store.ts'

/** The role of a person, even of one who may no longer sign in; null: there is none. */
export async function roleOf(
  db: Pool | Transaction,
  username: string,
): Promise<'admin' | 'operator' | null> {
  const { rows } = await db.query<{ role: 'admin' | 'operator' }>(
    'select role from auth.person where username = $1',
    [username],
  )
  return rows[0]?.role ?? null
}

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
