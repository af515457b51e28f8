import type { Transaction } from '../commit/event-store.ts'
import { dropIdleRecoveryCodes } from './recovery-codes.ts'

/**
 * Removes all passkeys of a person whose account is recovered: somebody else may have registered one. Returns whether there
 * were any.
 */
export async function forgetPasskeys(tx: Transaction, username: string): Promise<boolean> {
  const { rowCount } = await tx.query('delete from auth.passkey where username = $1', [username])
  await dropIdleRecoveryCodes(tx, username)
  return (rowCount ?? 0) > 0
}
