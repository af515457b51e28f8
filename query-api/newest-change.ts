import { type Kysely, sql } from 'kysely'
import type { ChangeTables } from '../projector/changes/table.ts'

/** The number of the newest state change of any run, or 0. The cursor of `/api/stream`. */
export async function newestChange(db: Kysely<ChangeTables>): Promise<number> {
  const { rows } = await sql<{ change: number }>`select newest_change() as change`.execute(db)
  return rows[0]?.change ?? 0
}
