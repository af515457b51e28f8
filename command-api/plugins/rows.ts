import type { PluginEvent, PluginSet } from '../../events/plugins.ts'
import { Refusal } from '../../platform/refusal.ts'
import { maxPlugins } from '../../schemas/plugins.ts'
import type { Transaction } from '../commit/event-store.ts'

/** `sealed`: null keeps the secret. */
export type Saving = { sealed: string | null; by: string }

/** How long the former secret of a plugin signs, too. */
const formerFor = '24 hours'

export async function savePlugin(
  tx: Transaction,
  { events, now }: { events: readonly PluginEvent[]; now: Date },
  { sealed, by }: Saving,
): Promise<void> {
  for (const { type, data } of events)
    if (type === 'plugin.removed') await forgetPlugin(tx, data.plugin_id)
    else {
      await upsertPlugin(tx, data, { sealed, by, now })
      await refuseTooMany(tx)
    }
}

const upsertPlugin = (
  tx: Transaction,
  set: PluginSet,
  { sealed, by, now }: Saving & { now: Date },
) =>
  tx.query(
    `insert into write.plugin as p (name, plugin_id, url, hooks, mode, timeout_ms, enabled, secret_prefix, sealed, set_at, set_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8, coalesce($9, ''), $10, $11)
     on conflict (name) do update set
       url = excluded.url, hooks = excluded.hooks, mode = excluded.mode, timeout_ms = excluded.timeout_ms,
       enabled = excluded.enabled, secret_prefix = excluded.secret_prefix, set_at = excluded.set_at, set_by = excluded.set_by,
       former = case when $9::text is null then p.former else p.sealed end,
       former_until = case when $9::text is null then p.former_until else excluded.set_at + interval '${formerFor}' end,
       sealed = coalesce($9, p.sealed)`,
    [
      ...[set.name, set.plugin_id, set.url, set.hooks, set.mode, set.timeout_ms, set.enabled],
      ...[set.secret_prefix, sealed, now, by],
    ],
  )

async function forgetPlugin(tx: Transaction, plugin_id: string): Promise<void> {
  for (const table of ['plugin_message', 'plugin_call', 'plugin'])
    await tx.query(`delete from write.${table} where plugin_id = $1`, [plugin_id])
}

async function refuseTooMany(tx: Transaction): Promise<void> {
  const { rows } = await tx.query<{ count: number }>(
    'select count(*)::integer as count from write.plugin',
  )
  if ((rows[0]?.count ?? 0) > maxPlugins)
    throw new Refusal(
      'conflict',
      `There are ${maxPlugins} plugins, the most of an installation; remove one first`,
      { code: 'plugin.too_many' },
    )
}
