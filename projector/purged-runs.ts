import { sql } from 'kysely'
import type { Recorded } from '../events/event.ts'
import type { DecisionProjection } from './projection.ts'

const purged = 'run.purged'

/**
 * The tables of decisions with rows per run. A test reports tables that are listed neither here nor in `keptOfRuns`.
 */
export const tablesOfRuns = [
  'alerts',
  'approvals',
  'artifacts',
  'diagnoses',
  'job_attempts',
  'jobs',
  'mlflow_inputs',
  'mlflow_runs',
  'rl_environment_uses',
  'run_benchmarks',
  'run_ends',
  'run_environments',
  'run_hparam_changes',
  'run_hparam_values',
  'run_hparams',
  'run_labels',
  'run_nodes',
  'runs',
  'state_changes',
  'volume_uses',
] as const

/** The bills of a purged run are kept, as are the versions of deleted models, the uploads to a hub, and its place in a plan. */
export const keptOfRuns = [
  'billing_entries',
  'hub_pushes',
  'model_versions',
  'plan_runs',
  'usage_lines',
  'usage_runs',
] as const

/** Removes the rows that earlier slices stored for a purged run; the only slice that knows other slices' tables. */
export const purgedRuns: DecisionProjection = {
  types: [purged],
  async apply(tx, events) {
    for (const { data } of events as readonly Recorded<{
      type: string
      data: { run_id: string }
    }>[]) {
      const { run_id } = data
      // Environment records are shared between runs.
      await sql`
        delete from environments e using run_environments r
         where r.run_id = ${run_id} and e.digest = r.digest
           and not exists (select from run_environments o where o.digest = e.digest and o.run_id <> ${run_id})`.execute(
        tx,
      )
      for (const table of tablesOfRuns)
        await sql`delete from ${sql.table(table)} where run_id = ${run_id}`.execute(tx)
    }
  },
}

/** Splits events after each purge, so that it removes only rows of earlier events, however events are batched. */
export function cutAtPurges<E extends { type: string }>(events: readonly E[]): E[][] {
  const parts: E[][] = [[]]
  for (const event of events) {
    parts.at(-1)?.push(event)
    if (event.type === purged) parts.push([])
  }
  return parts.filter(part => part.length > 0)
}
