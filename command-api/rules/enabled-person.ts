import type { Pool } from 'pg'
import { Refusal } from '../../platform/refusal.ts'
import type { Transaction } from '../commit/event-store.ts'

type Db = Pool | Transaction
type Role = 'admin' | 'operator'

/** The role of a person, even of one who may no longer sign in; null: there is none. */
export const roleOf = async (db: Db, username: string): Promise<Role | null> =>
  (await find(db, username))?.role ?? null

/** The role of a person who may sign in; null for anybody else. */
export async function roleIfEnabled(db: Db, username: string): Promise<Role | null> {
  const found = await find(db, username)
  return found && !found.disabled ? found.role : null
}

/** Does not distinguish between disabled and unknown people: only admins may learn which accounts exist. */
export async function refuseUnknownPerson(db: Db, username: string): Promise<void> {
  if ((await roleIfEnabled(db, username)) === null)
    throw new Refusal('invalid', `There is no enabled user ${username}`)
}

async function find(db: Db, username: string): Promise<{ role: Role; disabled: boolean } | null> {
  const { rows } = await db.query<{ role: Role; disabled: boolean }>(
    'select role, disabled from auth.person where username = $1',
    [username],
  )
  return rows[0] ?? null
}
