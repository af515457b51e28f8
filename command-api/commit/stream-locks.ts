import { lockTextsInTransaction } from '../../platform/postgres/with-lock.ts'
import type { Transaction } from './event-store.ts'

/**
 * Takes every lock that a transaction will need, as its first statement. Writers of one stream queue up here
 * instead of failing each other; the version check behind it stays the rule.
 *
 * The relay publishes in the order of transaction ids, and PostgreSQL gives an id at a transaction's first
 * write. A transaction that wrote before waiting for a stream would append under an id older than those of the
 * preceding versions, and be published ahead of them. Advisory locks assign no id, so all of them come before the
 * first write (ADR 2); a transaction that has already written is refused.
 */
export async function takeLocks(tx: Transaction, names: readonly string[]): Promise<void> {
  if (names.length === 0) return
  const { hasWritten } = await lockTextsInTransaction(tx, names)
  if (hasWritten)
    throw new Error(`the locks of ${names.join(', ')} must be taken before the first write`)
}
