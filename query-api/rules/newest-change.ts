import type { Context } from 'koa'
import { type Kysely, sql } from 'kysely'
import type { ChangeTables } from '../../projector/changes/table.ts'

/** The number of the newest state change of any run, or 0. The cursor of `/api/stream`. */
export async function newestChange(db: Kysely<ChangeTables>): Promise<number> {
  const { rows } = await sql<{ change: number }>`select newest_change() as change`.execute(db)
  return rows[0]?.change ?? 0
}

/** Sets the cursor from which `/api/stream?topics=jobs` continues a list without a gap; call it before the read. */
export async function setCursor(ctx: Context, db: Kysely<ChangeTables>): Promise<void> {
  ctx.set('Forge-Cursor', String(await newestChange(db)))
}
