import type { Pool } from 'pg'

/**
 * The read models' knowledge of runs' keys, for the limit on their number; the search path of `pool` is a generation.
 */
export const storedKeys = (pool: Pool) => ({
  async count(runIds: string[]): Promise<Map<string, number>> {
    const { rows } = await pool.query<{ run_id: string; keys: number }>({
      name: 'count_metric_keys',
      text: 'select run_id, keys from metric_run join metric_keys using (run_no) where run_id = any($1)',
      values: [runIds],
    })
    return new Map(rows.map(row => [row.run_id, row.keys]))
  },
  async missing(runId: string, keys: readonly string[]): Promise<string[]> {
    const { rows } = await pool.query<{ key: string }>({
      name: 'missing_metric_keys',
      text: `select asked.key from unnest($2::text[]) as asked (key)
              where not exists (select from metric_name n
                                  join metric_summary s using (key_no) join metric_run r using (run_no)
                                 where n.key = asked.key and r.run_id = $1)`,
      values: [runId, keys],
    })
    return rows.map(row => row.key)
  },
})
