import type { Transaction } from '../commit/event-store.ts'
import { overBudget } from '../rules/over-budget.ts'
import { whyClosed } from '../rules/queue-switches.ts'
import { takePool } from '../rules/team-pool.ts'
import { takeVolumes } from '../rules/volumes.ts'
import { takeQuota, takeSlots } from './holds.ts'

type Lacking =
  | 'quota_in_use'
  | 'over_budget'
  | 'team_pool_in_use'
  | 'gpus_taken'
  | 'volume_in_use'
  | 'queue_paused'
  | 'draining'

/** The quota, GPUs or volumes are no longer free, or nothing may start; the transaction is rolled back. */
export class NotNow extends Error {
  readonly why: Lacking
  constructor(why: Lacking) {
    super(why)
    this.why = why
  }
}

export type Reservation = {
  run_id: string
  /** The machine that these GPUs belong to. */
  engine: string
  gpu_indexes: readonly number[]
  now: Date
}

/**
 * Reserves the quota, the GPUs and the volumes of a starting job, and records the machine; throws `NotNow` if they are not free. This
 * decides, whatever `executor/queue.ts` selected: the rows of `write.quota` and `write.gpu_slot` keep two jobs from getting the
 * same GPUs.
 */
export async function reserve(tx: Transaction, wanted: Reservation): Promise<void> {
  const { run_id, now } = wanted
  const { rows } = await tx.query(
    'select owner as username, project, team, serving, series, gpus, executor from write.job_state where run_id = $1',
    [run_id],
  )
  const closed = await whyClosed(tx, { ...rows[0], engine: wanted.engine }, 'for share')
  if (closed) throw new NotNow(closed)
  const { username: owner, project, team, serving, gpus } = rows[0]
  // Deployments keep serving.
  if (serving === null && (await overBudget(tx, { owner, project, team, now })))
    throw new NotNow('over_budget')
  if (!(await takeQuota(tx, { run_id, now, ...rows[0] }))) throw new NotNow('quota_in_use')
  if (team !== null && !(await takePool(tx, { team, gpus, now })))
    throw new NotNow('team_pool_in_use')
  if (!(await takeSlots(tx, wanted))) throw new NotNow('gpus_taken')
  if (!(await takeVolumes(tx, run_id))) throw new NotNow('volume_in_use')
  await tx.query('update write.job_state set engine = $2 where run_id = $1', [
    run_id,
    wanted.engine,
  ])
}
