import type { Pool } from 'pg'
import { Refusal } from '../../platform/refusal.ts'
import type { Transaction } from '../commit/event-store.ts'
import { roleOf } from '../rules/enabled-person.ts'

/** Everybody writes datasets of their own, and admins those of others. */
export async function refuseOthers(
  tx: Pool | Transaction,
  { owner }: { owner: string },
  caller: { username: string; role: string },
): Promise<void> {
  if (caller.username === owner) return
  if (caller.role !== 'admin')
    throw new Refusal('forbidden', `Only ${owner} and admins may write datasets of ${owner}`)
  if ((await roleOf(tx, owner)) === null) throw new Refusal('not_found', `No such user: ${owner}`)
}
