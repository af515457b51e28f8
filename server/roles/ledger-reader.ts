import { Kysely, PostgresDialect, sql } from 'kysely'
import type { Pool } from 'pg'
import type { Ledger, LedgerEntry } from '../../command-api/rules/ledger.ts'
import { type BilledTables, ledgerEntries, readSpent } from '../../query-api/rules/billed.ts'
import { daysOfMonth } from '../../query-api/rules/month.ts'

/** Reads everybody's bills from the read models. */
export function ledgerReader(pool: Pool): Ledger {
  const db = new Kysely<BilledTables>({ dialect: new PostgresDialect({ pool }) })
  return {
    spent: (spenders, now) => readSpent(db, spenders, { ...daysOfMonth(undefined, now), now }),
    async entry(entry_id) {
      const { rows } = await sql<LedgerEntry>`
        select owner, project, run_id, day, starts_at, ends_at
          from (${ledgerEntries}) entry where entry_id = ${entry_id}`.execute(db)
      return rows[0] ?? null
    },
  }
}
