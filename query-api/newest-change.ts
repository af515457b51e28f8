import type { Kysely } from 'kysely'
import type { ChangeTables } from '../projector/changes/table.ts'

/** The number of the newest change of state; 0 for none. The cursor of `/api/stream`. */
export async function newestChange(db: Kysely<ChangeTables>): Promise<number> {
  const row = await db
    .selectFrom('state_changes')
    .select('change')
    .orderBy('change', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.change ?? 0
}
