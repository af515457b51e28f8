import { catalogOf } from '../../platform/postgres/catalog.ts'
import { createPool } from '../../platform/postgres/pool.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { migrationSets } from '../../server/database/migrations.ts'

/** The catalogs of all schemas of a database. */
export async function catalogs(url: string): Promise<Record<string, string[]>> {
  const pool = createPool(url, { max: 1, applicationName: 'forge test' })
  const found: Record<string, string[]> = {}
  for (const { schema } of migrationSets)
    found[schema] = await inTransaction(pool, tx => catalogOf(tx, schema))
  await pool.end()
  return found
}
