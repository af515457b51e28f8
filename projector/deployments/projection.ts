import { type Kysely, sql, type Updateable } from 'kysely'
import type { DeploymentEvent } from '../../events/deployments.ts'
import type { Recorded } from '../../events/event.ts'
import type { RevisionState } from '../../schemas/deployments/deployments.ts'
import type { Handlers } from '../projection.ts'
import type { DeploymentTables } from './table.ts'

type Tx = Kysely<DeploymentTables>
type Of<T extends DeploymentEvent['type']> = Recorded<Extract<DeploymentEvent, { type: T }>>

export const deploymentProjection: Handlers<DeploymentTables, DeploymentEvent> = {
  'deployment.created': (tx, { data, occurred_at }) =>
    tx
      .insertInto('deployments')
      .values({
        ...data,
        ...{ state: 'creating', state_reason: null, promoted_revision_id: null },
        ...{ previous_revision_id: null, suspended_at: null, suspended_by: null },
        ...{ created_at: occurred_at, updated_at: occurred_at },
      })
      .execute(),
  'deployment.changed': (tx, { data: { deployment_id, ...settings }, occurred_at }) =>
    update(tx, deployment_id, { ...settings, updated_at: occurred_at }),
  'deployment.autoscaling_changed': (tx, { data: { deployment_id, ...scaling }, occurred_at }) =>
    update(tx, deployment_id, { ...scaling, updated_at: occurred_at }),
  'deployment.origins_changed': (tx, { data, occurred_at }) =>
    update(tx, data.deployment_id, {
      ...{ allowed_origins: data.allowed_origins, updated_at: occurred_at },
    }),
  'deployment.gates_changed': (tx, { data, occurred_at }) =>
    update(tx, data.deployment_id, {
      ...{ benchmark_gates: data.benchmark_gates, updated_at: occurred_at },
    }),
  'deployment.gates_overridden': (tx, { data: { deployment_id, failed } }) =>
    tx
      .updateTable('deployment_promotions')
      .set({ overridden: failed })
      .where('deployment_id', '=', deployment_id)
      .where('nth', '=', newestPromotion(deployment_id))
      .execute(),
  'deployment.state_changed': (tx, { data, occurred_at, actor }) => {
    const { deployment_id, state, reason } = data
    return update(tx, deployment_id, {
      ...{ state, state_reason: reason, updated_at: occurred_at },
      ...(state === 'suspending' && { suspended_at: occurred_at, suspended_by: actor.id }),
      ...(state === 'resuming' && { suspended_at: null, suspended_by: null }),
    })
  },
  'deployment.suspended': (tx, { data, occurred_at }) =>
    update(tx, data.deployment_id, { state: 'suspended', updated_at: occurred_at }),
  'deployment.deleted': (tx, { data, occurred_at }) =>
    update(tx, data.deployment_id, { state: 'deleted', updated_at: occurred_at }),
  'deployment.promoted': (tx, event) => movePointer(tx, event, 'promoted'),
  'deployment.rolled_back': (tx, event) => movePointer(tx, event, 'rolled_back'),
  'deployment.revision_created': (tx, { data, occurred_at, actor }) => {
    const { deployment_id, revision_id, number, source, serving } = data
    return tx
      .insertInto('deployment_revisions')
      .values({
        ...{ deployment_id, revision_id, number, state: 'pending', state_reason: null },
        ...{ source: JSON.stringify(source), serving: JSON.stringify(serving), checks: '[]' },
        ...{ load_s: null, ready_at: null, created_by: actor.id, created_at: occurred_at },
      })
      .execute()
  },
  'deployment.revision_progressed': (tx, { data: { revision_id, state, reason } }) =>
    setState(tx, { revision_id, state, reason }),
  'deployment.revision_ready': (tx, { data, occurred_at }) =>
    tx
      .updateTable('deployment_revisions')
      .set({
        ...{ state: 'ready', state_reason: null, ready_at: occurred_at },
        ...{ checks: JSON.stringify(data.checks), load_s: data.load_s },
      })
      .where('revision_id', '=', data.revision_id)
      .execute(),
  'deployment.revision_not_promoted': (tx, { data: { revision_id, reason } }) =>
    setState(tx, { revision_id, state: 'ready', reason }),
  'deployment.revision_failed': (tx, { data: { revision_id, reason, checks } }) =>
    tx
      .updateTable('deployment_revisions')
      .set({ state: 'failed', state_reason: reason, checks: JSON.stringify(checks) })
      .where('revision_id', '=', revision_id)
      .execute(),
  'deployment.revision_retired': (tx, { data: { revision_id, reason } }) =>
    setState(tx, { revision_id, state: 'retired', reason }),
  'deployment.token_created': (tx, { data, occurred_at, actor }) =>
    tx
      .insertInto('deployment_tokens')
      .values({
        ...{ ...data, created_by: actor.id, created_at: occurred_at, revoked_at: null },
        captures: false,
      })
      .execute(),
  'deployment.capture_enabled': (tx, { data }) =>
    tx
      .updateTable('deployment_tokens')
      .set({ captures: true })
      .where('token_id', '=', data.token_id)
      .execute(),
  'deployment.token_revoked': (tx, { data, occurred_at }) =>
    tx
      .updateTable('deployment_tokens')
      .set({ revoked_at: occurred_at })
      .where('token_id', '=', data.token_id)
      .execute(),
}

const newestPromotion = (deployment_id: string) =>
  sql<number>`(select coalesce(max(nth), 0) from deployment_promotions where deployment_id = ${deployment_id})`

const update = (tx: Tx, deployment_id: string, to: Updateable<DeploymentTables['deployments']>) =>
  tx.updateTable('deployments').set(to).where('deployment_id', '=', deployment_id).execute()

const setState = (
  tx: Tx,
  {
    revision_id,
    state,
    reason,
  }: { revision_id: string; state: RevisionState; reason: string | null },
) =>
  tx
    .updateTable('deployment_revisions')
    .set({ state, state_reason: reason })
    .where('revision_id', '=', revision_id)
    .execute()

async function movePointer(
  tx: Tx,
  { data, occurred_at, actor }: Of<'deployment.promoted'> | Of<'deployment.rolled_back'>,
  kind: 'promoted' | 'rolled_back',
) {
  const { deployment_id, revision_id, previous_revision_id, reason } = data
  await update(tx, deployment_id, {
    promoted_revision_id: revision_id,
    previous_revision_id,
    updated_at: occurred_at,
  })
  await tx
    .insertInto('deployment_promotions')
    .values({
      ...{ deployment_id, at: occurred_at, kind, revision_id, previous_revision_id },
      ...{ actor: actor.id, reason },
      nth: sql<number>`${newestPromotion(deployment_id)} + 1`,
    })
    .execute()
}
