import { Refusal } from '../../platform/refusal.ts'
import type { Transaction } from '../commit/event-store.ts'

/** Maximum number of runs without a job that one person has not ended. */
const maxUnfinished = 10_000

/**
 * Refuses a run too many. Call it after the run's row is inserted: the row counts itself (`count_unfinished_runs`), and until this
 * transaction ends, other creations of the same person wait there.
 */
export async function refuseTooManyUnfinished(tx: Transaction, owner: string): Promise<void> {
  const { rows } = await tx.query<{ runs: number }>({
    name: 'unfinished_runs_of',
    text: 'select runs from write.unfinished_runs where owner = $1',
    values: [owner],
  })
  if ((rows[0]?.runs ?? 0) <= maxUnfinished) return
  throw new Refusal(
    'conflict',
    `${owner} already has ${maxUnfinished} unfinished runs, the most at one time; end some first`,
    {
      code: 'run.too_many_unfinished',
      data: { limit: maxUnfinished },
      hint: 'report their end, or stop them: POST /api/runs/{run_id}/stop {"force": true}; they can be deleted afterwards',
    },
  )
}
