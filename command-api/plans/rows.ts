import type { Pool } from 'pg'
import type { PlanEvent } from '../../events/plans.ts'
import type { Transaction } from '../commit/event-store.ts'

type Decided = { events: readonly PlanEvent[] }

const stateAfter: Partial<Record<PlanEvent['type'], string>> = {
  'plan.submitted': 'submitted',
  'plan.blocked': 'blocked',
  'plan.succeeded': 'succeeded',
  'plan.cancelled': 'cancelled',
  'plan.expired': 'expired',
}

/** What rules look up besides the stream: the state of a plan, and the plan of a run. */
export async function savePlan(tx: Transaction, { events }: Decided): Promise<void> {
  for (const { type, data } of events) {
    const { plan_id } = data
    if (type === 'plan.created')
      await tx.query(
        `insert into write.plan (plan_id, owner, project, state) values ($1, $2, $3, 'waiting')`,
        [plan_id, data.owner, data.project],
      )
    if (type === 'plan.stage_started') {
      const { runs, deployment_id } = data
      const parts = [...runs.map(({ run_id }) => run_id), ...(deployment_id ? [deployment_id] : [])]
      await tx.query(
        `insert into write.plan_part (part_id, plan_id) select part_id, $2 from unnest($1::text[]) as part_id
         on conflict do nothing`,
        [parts, plan_id],
      )
    }
    const state = stateAfter[type]
    if (state !== undefined)
      await tx.query('update write.plan set state = $2 where plan_id = $1', [plan_id, state])
  }
}

/** Plans of this person that wait to be submitted. */
export async function countWaiting(tx: Transaction, owner: string): Promise<number> {
  const { rows } = await tx.query<{ count: number }>(
    `select count(*)::int as count from write.plan where owner = $1 and state = 'waiting'`,
    [owner],
  )
  return rows[0]?.count ?? 0
}

/** The plan of a run or a deployment; null if no plan started it. */
export async function planOfPart(pool: Pool, part_id: string): Promise<string | null> {
  const { rows } = await pool.query<{ plan_id: string }>({
    name: 'plan_of_part',
    text: 'select plan_id from write.plan_part where part_id = $1',
    values: [part_id],
  })
  return rows[0]?.plan_id ?? null
}

/** Plans under way, the oldest first. */
export async function plansUnderWay(pool: Pool, most: number): Promise<string[]> {
  const { rows } = await pool.query<{ plan_id: string }>({
    name: 'plans_under_way',
    text: `select plan_id from write.plan where state = 'submitted' order by plan_id limit $1`,
    values: [most],
  })
  return rows.map(({ plan_id }) => plan_id)
}
