import type { Transaction } from './event-store.ts'

/**
 * Takes every lock that a transaction will need, as its first statement. Writers of one stream queue up here
 * instead of failing each other; the version check behind it stays the rule.
 *
 * The relay publishes in the order of transaction ids, and PostgreSQL gives an id at a transaction's first
 * write. Whoever wrote first and then waited for a stream would append under an id that is older than those of
 * the versions before, and be published ahead of them. Advisory locks take no id, so they all come before the
 * first write (ADR 2); a transaction that has written already is refused.
 *
 * Sorted by what is locked and not by name, so that no two transactions wait for each other. Names with the same
 * hash share a lock, which only makes them wait.
 */
export async function takeLocks(tx: Transaction, names: readonly string[]): Promise<void> {
  if (names.length === 0) return
  const { rows } = await tx.query<{ has_written: boolean }>({
    name: 'take_locks',
    text: `select pg_current_xact_id_if_assigned() is not null as has_written, pg_advisory_xact_lock(lock)
             from (select distinct hashtextextended(name, 0) as lock
                     from unnest($1::text[]) as name order by lock) as wanted`,
    values: [names],
  })
  if (rows.some(row => row.has_written))
    throw new Error(`the locks of ${names.join(', ')} must be taken before the first write`)
}
