import type { EngineHeaders } from '../../auth/engine-header.ts'
import type { Deployment, DeploymentEvent } from '../../events/deployments.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { SourceInput } from '../../schemas/deployments/deployments.ts'
import type { Decided } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import { holdResource } from '../rules/hold-resource.ts'

/**
 * Held while changing what gateways serve, and taken before the first write, so that no transaction waits for the row of the
 * epoch while holding locks that others wait for.
 */
export const servingLock = 'serving-epoch'

/** Data for rows that must not be in events. */
export type Beside = {
  /** The secret header of the external engine that this command describes. */
  secret?: { header: NonNullable<SourceInput['header']>; headers: EngineHeaders } | undefined
  /** The hash of the token that this command creates. */
  sha256?: Buffer
}

type Changed = Pick<Decided<Deployment, DeploymentEvent>, 'events' | 'now' | 'actor'>

/** Changes the rows from which gateways and other commands work, in the transaction of the events. */
export async function saveDeployment(
  tx: Transaction,
  { events, now, actor }: Changed,
  beside: Beside = {},
): Promise<void> {
  const epoch = await nextEpoch(tx)
  for (const event of events) await save(tx, event, { ...beside, epoch, now, actor: actor.id })
}

/** The number of this change; see the migration of `serving_epoch`. */
async function nextEpoch(tx: Transaction): Promise<string> {
  const { rows } = await tx.query<{ epoch: string }>(
    'update write.serving_epoch set epoch = epoch + 1 returning epoch',
  )
  if (!rows[0]) throw new Error('write.serving_epoch is empty')
  return rows[0].epoch
}

type At = Beside & { epoch: string; now: Date; actor: string }

function save(tx: Transaction, event: DeploymentEvent, at: At): Promise<unknown> {
  switch (event.type) {
    case 'deployment.created':
      return insertDeployment(tx, event.data, at)
    case 'deployment.changed':
      return changeSettings(tx, event.data, at)
    case 'deployment.autoscaling_changed':
      return changeScaling(tx, event.data, at)
    case 'deployment.origins_changed':
      return tx.query(
        'update write.deployment_route set allowed_origins = $2, epoch = $3 where deployment_id = $1',
        [event.data.deployment_id, event.data.allowed_origins, at.epoch],
      )
    case 'deployment.state_changed':
      return setState(tx, event.data, at)
    case 'deployment.suspended':
      return setState(tx, { ...event.data, state: 'suspended' }, at)
    case 'deployment.deleted':
      return setState(tx, { ...event.data, state: 'deleted' }, at)
    case 'deployment.promoted':
    case 'deployment.rolled_back':
      return movePointer(tx, event.data, at)
    case 'deployment.token_created':
      return insertToken(tx, event.data, at)
    case 'deployment.capture_enabled':
      return tx.query(
        'update auth.deployment_token set captures = true, epoch = $2 where token_id = $1',
        [event.data.token_id, at.epoch],
      )
    case 'deployment.token_revoked':
      return tx.query(
        'update auth.deployment_token set revoked_at = $2, epoch = $3 where token_id = $1',
        [event.data.token_id, at.now, at.epoch],
      )
    case 'deployment.gates_changed':
    case 'deployment.gates_overridden':
    case 'deployment.revision_not_promoted':
      // Rules read these from the stream.
      return Promise.resolve()
    case 'deployment.revision_created':
      return insertRevision(tx, event.data, at)
    default:
      return setRevisionState(tx, event, at)
  }
}

type Data<T extends DeploymentEvent['type']> = Extract<DeploymentEvent, { type: T }>['data']

async function insertDeployment(tx: Transaction, made: Data<'deployment.created'>, at: At) {
  await tx.query(
    `insert into write.deployment_state
       (deployment_id, project, owner, name, state, min_replicas, max_replicas, team)
     values ($1, $2, $3, $4, 'creating', $5, $6, $7)`,
    [
      ...[made.deployment_id, made.project, made.owner, made.name],
      ...[made.min_replicas, made.max_replicas, made.team],
    ],
  )
  await tx.query(
    `insert into write.deployment_route
       (deployment_id, state, max_body_bytes, timeout_s, max_concurrency, epoch)
     values ($1, 'serving', $2, $3, $4, $5)`,
    [
      ...[made.deployment_id, made.max_body_bytes, made.timeout_s],
      ...[made.max_concurrency, at.epoch],
    ],
  )
}

async function changeSettings(tx: Transaction, to: Data<'deployment.changed'>, at: At) {
  await tx.query(
    `update write.deployment_state set name = $2, min_replicas = $3, max_replicas = $4, team = $5
      where deployment_id = $1`,
    [to.deployment_id, to.name, to.min_replicas, to.max_replicas, to.team],
  )
  await tx.query(
    `update write.deployment_route
        set max_body_bytes = $2, timeout_s = $3, max_concurrency = $4, epoch = $5
      where deployment_id = $1`,
    [to.deployment_id, to.max_body_bytes, to.timeout_s, to.max_concurrency, at.epoch],
  )
}

async function changeScaling(
  tx: Transaction,
  to: Data<'deployment.autoscaling_changed'>,
  { now }: At,
) {
  await tx.query(
    `update write.deployment_state
        set target_concurrency = $2, up_window_s = $3, down_window_s = $4, idle_suspend_s = $5, active_at = $6
      where deployment_id = $1`,
    [
      ...[to.deployment_id, to.target, to.up_window_s, to.down_window_s],
      ...[to.idle_suspend_s, now],
    ],
  )
}

/** Requests are refused from the moment somebody suspends or deletes it. */
const routeOf = (state: string): 'serving' | 'suspended' | 'deleted' => {
  if (state === 'suspending' || state === 'suspended') return 'suspended'
  return state === 'deleting' || state === 'deleted' ? 'deleted' : 'serving'
}

async function setState(
  tx: Transaction,
  { deployment_id, state }: { deployment_id: string; state: string },
  { epoch, now }: At,
) {
  // A resumed deployment starts with the minimum, and has the full idle time for its first request.
  await tx.query(
    `update write.deployment_state
        set state = $2, desired_replicas = case when $2 = 'suspending' then null else desired_replicas end,
            active_at = case when $2 = 'resuming' then $3 else active_at end
      where deployment_id = $1`,
    [deployment_id, state, now],
  )
  await tx.query(
    `update write.deployment_route set state = $2, epoch = $3
      where deployment_id = $1 and state <> $2`,
    [deployment_id, routeOf(state), epoch],
  )
}

async function movePointer(tx: Transaction, to: Data<'deployment.promoted'>, { epoch, now }: At) {
  const { deployment_id, revision_id, previous_revision_id } = to
  await tx.query(
    'update write.deployment_state set promoted_revision_id = $2, active_at = greatest(active_at, $3) where deployment_id = $1',
    [deployment_id, revision_id, now],
  )
  await tx.query(
    'update write.deployment_route set revision_id = $2, epoch = $3 where deployment_id = $1',
    [deployment_id, revision_id, epoch],
  )
  await tx.query(
    `update write.revision_state set superseded_at = case when revision_id = $1 then null else $3::timestamptz end
      where revision_id in ($1, $2)`,
    [revision_id, previous_revision_id, now],
  )
}

async function insertToken(tx: Transaction, token: Data<'deployment.token_created'>, at: At) {
  if (!at.sha256) throw new Error('the hash of a new token is missing')
  await tx.query(
    `insert into auth.deployment_token
       (token_id, secret_sha256, deployment_id, name, note, created_by, created_at, epoch)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      ...[token.token_id, at.sha256, token.deployment_id, token.name, token.note],
      ...[at.actor, at.now, at.epoch],
    ],
  )
}

async function holdArtifact(tx: Transaction, id: string): Promise<void> {
  if (!(await holdResource(tx, { kind: 'artifact', id })))
    throw new Refusal('conflict', `The artifact ${id} has just been deleted`)
}

async function insertRevision(
  tx: Transaction,
  { deployment_id, revision_id, source, serving }: Data<'deployment.revision_created'>,
  { now, actor, epoch, secret }: At,
) {
  if (source.artifact_id !== null) await holdArtifact(tx, source.artifact_id)
  await tx.query(
    `insert into write.revision_state
       (revision_id, deployment_id, state, source, serving, created_by, created_at)
     values ($1, $2, 'pending', $3, $4, $5, $6)`,
    [revision_id, deployment_id, source, serving, actor, now],
  )
  if (source.kind !== 'external') return
  const sealed = secret ? secret.headers.seal(secret.header.value, revision_id) : null
  // Forge does not start this engine: it exists and only has to respond.
  await tx.query(
    `insert into write.replica (replica_id, revision_id, deployment_id, base_url, state, started_at, next_at)
     values ($1, $1, $2, $3, 'starting', $4, $4)`,
    [revision_id, deployment_id, source.url, now],
  )
  await tx.query(
    `insert into write.replica_route
       (replica_id, deployment_id, revision_id, base_url, header_name, header_sealed, is_ready, epoch)
     values ($1, $2, $1, $3, $4, $5, false, $6)`,
    [revision_id, deployment_id, source.url, source.header_name, sealed, epoch],
  )
}

type OfRevision = Extract<
  DeploymentEvent,
  {
    type:
      | 'deployment.revision_progressed'
      | 'deployment.revision_ready'
      | 'deployment.revision_failed'
      | 'deployment.revision_retired'
  }
>

async function setRevisionState(tx: Transaction, event: OfRevision, { epoch }: At) {
  const { revision_id } = event.data
  const state = stateOfRevision(event)
  await tx.query('update write.revision_state set state = $2 where revision_id = $1', [
    revision_id,
    state,
  ])
  // No request reaches a revision that has ended.
  if (state === 'failed' || state === 'retired')
    await tx.query(
      'update write.replica_route set is_ready = false, epoch = $2 where revision_id = $1 and is_ready',
      [revision_id, epoch],
    )
}

const stateOfRevision = (event: OfRevision): string => {
  switch (event.type) {
    case 'deployment.revision_progressed':
      return event.data.state
    case 'deployment.revision_ready':
      return 'ready'
    case 'deployment.revision_failed':
      return 'failed'
    case 'deployment.revision_retired':
      return 'retired'
  }
}

/** Adds or removes the route to a replica, in the caller's transaction. */
export async function routeReplica(
  tx: Transaction,
  replica: { replica_id: string; deployment_id: string; revision_id: string; base_url: string },
  is_ready: boolean,
): Promise<void> {
  const { replica_id, deployment_id, revision_id, base_url } = replica
  const epoch = await nextEpoch(tx)
  await tx.query(
    `insert into write.replica_route (replica_id, deployment_id, revision_id, base_url, is_ready, epoch)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (replica_id) do update
       set base_url = excluded.base_url, is_ready = excluded.is_ready, epoch = excluded.epoch`,
    [replica_id, deployment_id, revision_id, base_url, is_ready, epoch],
  )
}
