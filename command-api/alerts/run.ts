import { type AlertFired, type Alerts, alertsOf } from '../../events/alerts.ts'
import { loadState } from '../commit/snapshots.ts'
import type { Deps } from '../deps.ts'
import { type Rules, rulesOf } from './rules.ts'

/** Names a run in the events of its alerts. */
export type AboutRun = Pick<AlertFired, 'run_id' | 'short_id' | 'project' | 'owner'> & {
  source: 'job' | 'external'
}

/** Null if there is no such run. */
export async function aboutRun(
  { pool }: Pick<Deps, 'pool'>,
  run_id: string,
): Promise<{ about: AboutRun; rules: Rules } | null> {
  const { rows } = await pool.query({
    name: 'alert_run',
    text: `select r.run_id, coalesce(r.short_id, r.run_id) as short_id, r.project, r.owner, r.source,
                  (select data #> '{spec,spec,rules}' from write.event
                    where stream = 'job-' || r.run_id and type = 'job.admitted' limit 1) as rules
             from write.run_state r where r.run_id = $1`,
    values: [run_id],
  })
  const [row] = rows
  if (!row) return null
  const { rules, ...about } = row
  return { about, rules: rulesOf(rules ?? []) }
}

/** As last committed. */
export const alertsNow = async ({ store }: Pick<Deps, 'store'>, run_id: string): Promise<Alerts> =>
  (await loadState(store, undefined, alertsOf(run_id))).state
