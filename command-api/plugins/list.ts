import type { Pool } from 'pg'
import type { PluginCall, PluginRow } from '../../schemas/plugins.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'

type Row = Omit<PluginRow, 'set_at'> & { set_at: Date }

/** All plugins by name, or only this one. */
export async function listPlugins(pool: Pool, name: string | null = null): Promise<PluginRow[]> {
  const { rows } = await pool.query<Row>(
    `select p.plugin_id, p.name, p.url, p.hooks, p.mode, p.timeout_ms, p.enabled, p.secret_prefix, p.set_at, p.set_by,
            (select error from write.plugin_call c where c.plugin_id = p.plugin_id order by nth desc limit 1) as last_error,
            (select count(*)::integer from (
               select at from write.plugin_call c where c.plugin_id = p.plugin_id order by nth desc limit 10000) newest
              where at > now() - interval '24 hours') as calls_24h,
            (select count(*)::integer from write.plugin_message m where m.plugin_id = p.plugin_id and not is_dead) as waiting,
            (select count(*)::integer from write.plugin_message m where m.plugin_id = p.plugin_id and is_dead) as dead
       from write.plugin p where $1::text is null or name = $1 order by name`,
    [name],
  )
  return rows.map(({ set_at, ...row }) => ({ ...row, set_at: toTimestamp(set_at) }))
}

export async function listCalls(pool: Pool, name: string, limit: number): Promise<PluginCall[]> {
  const { rows } = await pool.query<Omit<PluginCall, 'at'> & { at: Date }>(
    `select c.hook, c.subject, c.at, c.ms, c.outcome, c.status, c.error
       from write.plugin_call c join write.plugin p using (plugin_id)
      where p.name = $1 order by c.nth desc limit $2`,
    [name, limit],
  )
  return rows.map(({ at, ...row }) => ({ ...row, at: toTimestamp(at) }))
}
