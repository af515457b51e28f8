import type { Kysely, Updateable } from 'kysely'
import type { PlanEvent } from '../../events/plans.ts'
import type { LookedStage } from '../../schemas/plans.ts'
import type { Handlers } from '../projection.ts'
import type { PlanTables } from './table.ts'

type Tx = Kysely<PlanTables>

export const planProjection: Handlers<PlanTables, PlanEvent> = {
  async 'plan.created'(tx, { data, occurred_at }) {
    const { stages, looked, ...plan } = data
    const isReady = looked.every(({ gates }) => gates.every(({ ok }) => ok))
    await tx
      .insertInto('plans')
      .values({
        ...plan,
        ...{ state: isReady ? 'ready' : 'draft', reason: null, moved: '[]' },
        ...{ created_at: occurred_at, updated_at: occurred_at },
        ...{ submitted_by: null, submitted_at: null },
      })
      .execute()
    await tx
      .insertInto('plan_stages')
      .values(
        stages.map((planned, nth) => ({
          ...{ plan_id: plan.plan_id, nth, name: planned.name, kind: planned.kind },
          ...{ planned: JSON.stringify(planned), looked: JSON.stringify(looked[nth] ?? null) },
          ...{ state: 'pending' as const, reason: null, deployment_id: null, best_run_id: null },
        })),
      )
      .execute()
  },
  async 'plan.submitted'(tx, { data, occurred_at }) {
    const { plan_id, digest, looked, submitted_by } = data
    await update(tx, plan_id, {
      ...{ state: 'submitted', digest, submitted_by, submitted_at: occurred_at },
      ...{ reason: null, moved: '[]', updated_at: occurred_at },
    })
    for (const [nth, one] of looked.entries()) await noteLook(tx, { plan_id, stage: nth }, one)
    await tx
      .updateTable('plan_stages')
      .set({ state: 'pending', reason: null })
      .where('plan_id', '=', plan_id)
      .where('state', '=', 'blocked')
      .execute()
  },
  async 'plan.stage_started'(tx, { data, occurred_at }) {
    const { plan_id, runs, deployment_id } = data
    const stage = await updateStage(tx, data, { state: 'running', deployment_id })
    // Runs of an attempt that was blocked.
    await tx
      .deleteFrom('plan_runs')
      .where('plan_id', '=', plan_id)
      .where('stage', '=', stage)
      .execute()
    if (runs.length > 0)
      await tx
        .insertInto('plan_runs')
        .values(
          runs.map(({ run_id, params }, nth) => ({
            ...{ plan_id, stage, n: nth + 1, run_id, params: JSON.stringify(params) },
            ...{ state: null, reason: null, ended_at: null },
          })),
        )
        .execute()
    await update(tx, plan_id, { updated_at: occurred_at })
  },
  async 'plan.run_ended'(tx, { data: { plan_id, run_id, state, reason }, occurred_at }) {
    await tx
      .updateTable('plan_runs')
      .set({ state, reason, ended_at: occurred_at })
      .where('plan_id', '=', plan_id)
      .where('run_id', '=', run_id)
      .execute()
    await update(tx, plan_id, { updated_at: occurred_at })
  },
  async 'plan.stage_succeeded'(tx, { data, occurred_at }) {
    const { plan_id, best_run_id } = data
    await updateStage(tx, data, { state: 'succeeded', best_run_id })
    await update(tx, plan_id, { updated_at: occurred_at })
  },
  async 'plan.blocked'(tx, { data, occurred_at }) {
    const { plan_id, reason, moved } = data
    await updateStage(tx, data, { state: 'blocked', reason })
    await update(tx, plan_id, {
      ...{ state: 'blocked', reason, moved: JSON.stringify(moved), updated_at: occurred_at },
    })
  },
  'plan.succeeded': (tx, { data: { plan_id }, occurred_at }) =>
    update(tx, plan_id, { state: 'succeeded', updated_at: occurred_at }),
  'plan.cancelled': (tx, { data: { plan_id }, occurred_at }) =>
    update(tx, plan_id, { state: 'cancelled', updated_at: occurred_at }),
  'plan.expired': (tx, { data: { plan_id }, occurred_at }) =>
    update(tx, plan_id, { state: 'expired', updated_at: occurred_at }),
}

const update = (tx: Tx, plan_id: string, to: Updateable<PlanTables['plans']>) =>
  tx.updateTable('plans').set(to).where('plan_id', '=', plan_id).execute()

type At = { plan_id: string; stage: number }

const noteLook = (tx: Tx, at: At, looked: LookedStage) =>
  updateStage(tx, at, { looked: JSON.stringify(looked) })

/** Returns the name of the stage. */
async function updateStage(
  tx: Tx,
  { plan_id, stage }: At,
  to: Updateable<PlanTables['plan_stages']>,
): Promise<string> {
  const { name } = await tx
    .updateTable('plan_stages')
    .set(to)
    .where('plan_id', '=', plan_id)
    .where('nth', '=', stage)
    .returning('name')
    .executeTakeFirstOrThrow()
  return name
}
