import type { Pool } from 'pg'
import { moneyText } from '../../events/calculations/billing.ts'
import { readCostsSince } from '../rules/ledger.ts'
import type { Db } from './find.ts'
import { dayAgo } from './traffic/last-day.ts'

/** Maximum number of engines summed per deployment, newest first; one that keeps crashing has many. */
const mostEngines = 2000

/** The cost of each deployment's engine jobs in the last 24 hours; no entry if Forge never ran an engine. */
export async function costsOf(
  { pool, db }: { pool: Pool; db: Db },
  ids: readonly string[],
  now: Date,
): Promise<Map<string, string>> {
  const { rows } = await pool.query<{ deployment_id: string; run_id: string }>({
    name: 'engines_of_deployments',
    text: `select d.deployment_id, r.run_id
             from unnest($1::text[]) as d (deployment_id)
            cross join lateral (
              select r.run_id from write.revision_state v join write.replica r using (revision_id)
               where v.deployment_id = d.deployment_id and r.run_id is not null
               order by r.started_at desc limit ${mostEngines}) r`,
    values: [ids],
  })
  if (rows.length === 0) return new Map()
  const runIds = rows.map(({ run_id }) => run_id)
  const costs = await readCostsSince(db, runIds, { since: dayAgo(now), now })
  const sums = new Map<string, bigint>()
  for (const { deployment_id, run_id } of rows)
    sums.set(deployment_id, (sums.get(deployment_id) ?? 0n) + (costs.get(run_id) ?? 0n))
  return new Map([...sums].map(([id, cost]) => [id, moneyText(cost)]))
}
