import { type Kysely, sql } from 'kysely'
import type { QuotaTables } from '../../projector/quotas/table.ts'
import { defaultQuota, type Quota } from '../../schemas/quotas.ts'

/** The quota of each of these people: the default unless one was set. */
export async function readQuotas(
  db: Kysely<QuotaTables>,
  usernames: readonly string[],
): Promise<(username: string) => Quota> {
  const { rows } = await sql<{ username: string; quota: Omit<Quota, 'default'> }>`
    select username, quota from quotas where username = any(${usernames})`.execute(db)
  const found = new Map(rows.map(row => [row.username, { ...row.quota, default: false }]))
  return username => found.get(username) ?? defaultQuota
}
