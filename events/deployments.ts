import { type Static, Type } from 'typebox'
import {
  type Autoscaling,
  check,
  type DeploymentState,
  defaultAutoscaling,
  type RevisionState,
  type Serving,
  type Source,
  serving,
  source,
} from '../schemas/deployments/deployments.ts'
import { nullable, oneOf } from '../schemas/shared.ts'
import { aggregate, type EventOf, event, type Stamped } from './event.ts'

const deployment_id = Type.String()
const revision_id = Type.String()
const settings = {
  name: Type.String(),
  team: nullable(Type.String()),
  min_replicas: Type.Integer(),
  max_replicas: Type.Integer(),
  max_body_bytes: Type.Integer(),
  timeout_s: Type.Integer(),
  max_concurrency: Type.Integer(),
}
export type DeploymentSettings = Static<ReturnType<typeof settingsObject>>
const settingsObject = () => Type.Object(settings)

/** A deployment was created, without a revision so far. */
export const deploymentCreated = event(
  'deployment.created',
  Type.Object({ deployment_id, owner: Type.String(), project: Type.String(), ...settings }),
  ({ name, project }, who) => `${who} created the deployment ${name} in project ${project}`,
)

/** Its settings were changed; the event has all new settings. */
export const deploymentChanged = event(
  'deployment.changed',
  Type.Object({ deployment_id, ...settings }),
  ({ name }, who) => `${who} changed the settings of the deployment ${name}`,
)

/**
 * The autoscaling settings: when engines are added or removed, and when it is suspended for lack of requests. The
 * event has all of them.
 */
export const deploymentAutoscalingChanged = event(
  'deployment.autoscaling_changed',
  Type.Object({
    deployment_id,
    target: Type.Integer(),
    up_window_s: Type.Integer(),
    down_window_s: Type.Integer(),
    idle_suspend_s: nullable(Type.Integer()),
  }),
  ({ target, idle_suspend_s: idle }, who) =>
    `${who} set the target to ${target} concurrent requests per engine${idle === null ? '' : `, and none run after ${idle} s without a request`}`,
)

/** From now on, pages of these origins may call the deployment; the event has all of them, none if it is empty. */
export const deploymentOriginsChanged = event(
  'deployment.origins_changed',
  Type.Object({ deployment_id, allowed_origins: Type.Array(Type.String()) }),
  ({ allowed_origins: origins }, who) =>
    origins.length === 0
      ? `${who} allowed no web page to call the deployment`
      : `${who} allowed web pages of ${origins[0] === '*' ? 'any origin' : origins.join(', ')} to call the deployment`,
)

/** From now on, a promotion must not lower the scores of these benchmarks (`name@version`); the event has all of them. */
export const deploymentGatesChanged = event(
  'deployment.gates_changed',
  Type.Object({ deployment_id, benchmark_gates: Type.Array(Type.String()) }),
  ({ benchmark_gates: gates }, who) =>
    gates.length === 0
      ? `${who} removed the benchmarks that gate promotions of the deployment`
      : `${who} made promotions of the deployment depend on ${gates.join(', ')}`,
)

/**
 * A revision was created; its source and serving settings are immutable. `auto_promote`: it is promoted as soon as it is ready.
 */
export const deploymentRevisionCreated = event(
  'deployment.revision_created',
  Type.Object({
    deployment_id,
    revision_id,
    number: Type.Integer(),
    source,
    serving,
    auto_promote: Type.Boolean(),
  }),
  ({ number, source: of }, who) =>
    `${who} created revision ${number}, which serves ${of.model ?? of.artifact_id ?? of.url ?? 'nothing'}`,
)

/** The progress of a revision towards ready, or the state of its replicas. */
export const deploymentRevisionProgressed = event(
  'deployment.revision_progressed',
  Type.Object({
    deployment_id,
    revision_id,
    state: oneOf('placing', 'pulling', 'loading', 'checking'),
    reason: nullable(Type.String()),
  }),
  ({ revision_id: id, state, reason }, who) =>
    `${who} marked revision ${id} as ${state}${reason === null ? '' : `: ${reason}`}`,
)

/** It has passed its readiness check. */
export const deploymentRevisionReady = event(
  'deployment.revision_ready',
  Type.Object({ deployment_id, revision_id, checks: Type.Array(check), load_s: Type.Number() }),
  ({ revision_id: id }, who) => `${who} marked revision ${id} as ready to serve`,
)

/** It is ready, but was not promoted as requested at its creation. */
export const deploymentRevisionNotPromoted = event(
  'deployment.revision_not_promoted',
  Type.Object({ deployment_id, revision_id, reason: Type.String() }),
  ({ revision_id: id, reason }, who) => `${who} did not promote revision ${id}: ${reason}`,
)

/** It will never serve. */
export const deploymentRevisionFailed = event(
  'deployment.revision_failed',
  Type.Object({ deployment_id, revision_id, reason: Type.String(), checks: Type.Array(check) }),
  ({ revision_id: id, reason }, who) => `${who} gave up on revision ${id}: ${reason}`,
)

/** Its replicas are ended permanently. */
export const deploymentRevisionRetired = event(
  'deployment.revision_retired',
  Type.Object({ deployment_id, revision_id, reason: Type.String() }),
  ({ revision_id: id, reason }, who) => `${who} retired revision ${id}: ${reason}`,
)

const pointer = {
  deployment_id,
  revision_id,
  previous_revision_id: nullable(Type.String()),
  reason: Type.String(),
}

/** From now on, requests go to this revision. */
export const deploymentPromoted = event(
  'deployment.promoted',
  Type.Object(pointer),
  ({ revision_id: id, previous_revision_id: previous, reason }, who) =>
    `${who} promoted revision ${id}${previous === null ? '' : ` in place of ${previous}`}${reason === '' ? '' : `: ${reason}`}`,
)

/** Requests go to an earlier revision again. */
export const deploymentRolledBack = event(
  'deployment.rolled_back',
  Type.Object(pointer),
  ({ revision_id: id, previous_revision_id: previous, reason }, who) =>
    `${who} rolled back to revision ${id} from ${previous}${reason === '' ? '' : `: ${reason}`}`,
)

/** The promotion just before happened although benchmarks refuse it; `failed` has the reason of each. */
export const deploymentGatesOverridden = event(
  'deployment.gates_overridden',
  Type.Object({ deployment_id, revision_id, failed: Type.Array(Type.String()) }),
  ({ revision_id: id, failed }, who) =>
    `${who} overrode the benchmarks that refuse revision ${id}: ${failed.join('; ')}`,
)

/**
 * The state of a deployment changed because of its replicas, or because a person suspended, resumed or deleted it.
 */
export const deploymentStateChanged = event(
  'deployment.state_changed',
  Type.Object({
    deployment_id,
    state: oneOf('ready', 'degraded', 'suspending', 'resuming', 'failed', 'deleting'),
    reason: nullable(Type.String()),
  }),
  ({ state, reason }, who) =>
    `${who} changed the deployment to ${state}${reason === null ? '' : `: ${reason}`}`,
)

/** None of its replicas is running, until it is resumed. */
export const deploymentSuspended = event(
  'deployment.suspended',
  Type.Object({ deployment_id }),
  (_, who) => `${who} recorded that the last replica of the suspended deployment ended`,
)

/** Nothing of it is running, and its name is free. */
export const deploymentDeleted = event(
  'deployment.deleted',
  Type.Object({ deployment_id }),
  (_, who) => `${who} deleted the deployment`,
)

/** A token for this deployment was created; never contains the token itself. */
export const deploymentTokenCreated = event(
  'deployment.token_created',
  Type.Object({ deployment_id, token_id: Type.String(), name: Type.String(), note: Type.String() }),
  ({ name }, who) => `${who} created the token ${name}`,
)

/** Requests with this token, and their responses, are kept for a while from its creation on. */
export const deploymentCaptureEnabled = event(
  'deployment.capture_enabled',
  Type.Object({ deployment_id, token_id: Type.String(), name: Type.String() }),
  ({ name }, who) => `${who} let requests with the token ${name} be captured`,
)

/** From now on the token is invalid. */
export const deploymentTokenRevoked = event(
  'deployment.token_revoked',
  Type.Object({ deployment_id, token_id: Type.String() }),
  ({ token_id }, who) => `${who} revoked the token ${token_id}`,
)

const events = [
  deploymentCreated,
  deploymentChanged,
  deploymentAutoscalingChanged,
  deploymentOriginsChanged,
  deploymentGatesChanged,
  deploymentRevisionCreated,
  deploymentRevisionProgressed,
  deploymentRevisionReady,
  deploymentRevisionNotPromoted,
  deploymentRevisionFailed,
  deploymentRevisionRetired,
  deploymentPromoted,
  deploymentRolledBack,
  deploymentGatesOverridden,
  deploymentStateChanged,
  deploymentSuspended,
  deploymentDeleted,
  deploymentTokenCreated,
  deploymentCaptureEnabled,
  deploymentTokenRevoked,
] as const
export type DeploymentEvent = EventOf<(typeof events)[number]>

export type Revision = {
  number: number
  state: RevisionState
  state_reason: string | null
  source: Source
  serving: Serving
  auto_promote: boolean
}
export type Token = { name: string; isRevoked: boolean }

/** Null before it is created. Records, not maps: snapshots store the state as JSON. */
export type Deployment = {
  deployment_id: string
  owner: string
  project: string
  settings: DeploymentSettings
  autoscaling: Autoscaling
  allowed_origins: readonly string[]
  /** Benchmarks, as `name@version`, whose scores a promotion must not lower. */
  benchmark_gates: readonly string[]
  state: DeploymentState
  promoted_revision_id: string | null
  previous_revision_id: string | null
  revisions: Record<string, Revision>
  tokens: Record<string, Token>
} | null

type Made = NonNullable<Deployment>

function evolve(deployment: Deployment, happened: Stamped<DeploymentEvent>): Deployment {
  if (happened.type === 'deployment.created') {
    const { deployment_id: id, owner, project, ...rest } = happened.data
    return {
      ...{ deployment_id: id, owner, project, settings: rest, state: 'creating' },
      ...{ autoscaling: defaultAutoscaling, allowed_origins: [], benchmark_gates: [] },
      ...{ promoted_revision_id: null, previous_revision_id: null, revisions: {}, tokens: {} },
    }
  }
  if (!deployment) throw new Error(`${happened.type} of a deployment that was never created`)
  return evolveMade(deployment, happened)
}

type Later = Exclude<DeploymentEvent, { type: 'deployment.created' }>

function evolveMade(deployment: Made, happened: Later): Made {
  switch (happened.type) {
    case 'deployment.changed': {
      const { deployment_id: _, ...rest } = happened.data
      return { ...deployment, settings: rest }
    }
    case 'deployment.autoscaling_changed': {
      const { deployment_id: _, ...autoscaling } = happened.data
      return { ...deployment, autoscaling }
    }
    case 'deployment.origins_changed':
      return { ...deployment, allowed_origins: happened.data.allowed_origins }
    case 'deployment.gates_changed':
      return { ...deployment, benchmark_gates: happened.data.benchmark_gates }
    case 'deployment.gates_overridden':
      return deployment
    case 'deployment.state_changed':
      return { ...deployment, state: happened.data.state }
    case 'deployment.suspended':
      return { ...deployment, state: 'suspended' }
    case 'deployment.deleted':
      return { ...deployment, state: 'deleted' }
    case 'deployment.promoted':
    case 'deployment.rolled_back': {
      const { revision_id: promoted_revision_id, previous_revision_id } = happened.data
      return { ...deployment, promoted_revision_id, previous_revision_id }
    }
    case 'deployment.capture_enabled':
      // Gateways read it from the row of the token.
      return deployment
    case 'deployment.token_created':
    case 'deployment.token_revoked':
      return { ...deployment, tokens: tokensAfter(deployment.tokens, happened) }
    default:
      return { ...deployment, revisions: revisionsAfter(deployment.revisions, happened) }
  }
}

type OfRevision = Extract<Later, { type: `deployment.revision_${string}` }>

function revisionsAfter(
  revisions: Made['revisions'],
  happened: OfRevision,
): Record<string, Revision> {
  const { data } = happened
  const known = revisions[data.revision_id]
  if (happened.type === 'deployment.revision_created') {
    const { number, source: from, serving: how, auto_promote } = happened.data
    const made: Revision = {
      ...{ number, source: from, serving: how, auto_promote },
      ...{ state: 'pending', state_reason: null },
    }
    return { ...revisions, [data.revision_id]: made }
  }
  if (!known) throw new Error(`${happened.type} of a revision that was never created`)
  return { ...revisions, [data.revision_id]: { ...known, ...stateAfter(happened) } }
}

function stateAfter(
  happened: Exclude<OfRevision, { type: 'deployment.revision_created' }>,
): Pick<Revision, 'state' | 'state_reason'> {
  switch (happened.type) {
    case 'deployment.revision_progressed':
      return { state: happened.data.state, state_reason: happened.data.reason }
    case 'deployment.revision_ready':
      return { state: 'ready', state_reason: null }
    case 'deployment.revision_not_promoted':
      return { state: 'ready', state_reason: happened.data.reason }
    case 'deployment.revision_failed':
      return { state: 'failed', state_reason: happened.data.reason }
    case 'deployment.revision_retired':
      return { state: 'retired', state_reason: happened.data.reason }
  }
}

function tokensAfter(
  tokens: Made['tokens'],
  happened: Extract<Later, { type: `deployment.token_${string}` }>,
): Record<string, Token> {
  const { token_id } = happened.data
  if (happened.type === 'deployment.token_created')
    return { ...tokens, [token_id]: { name: happened.data.name, isRevoked: false } }
  const known = tokens[token_id]
  if (!known) throw new Error('a token that was never created was revoked')
  return { ...tokens, [token_id]: { ...known, isRevoked: true } }
}

export const deployments = aggregate('deployment', {
  events,
  initial: null,
  evolve,
  snapshot: { shape: 4 },
})
export const deploymentAt = (id: string) => deployments.at(id)
