import { isDeepStrictEqual } from 'node:util'
import type { Deployment, DeploymentEvent, DeploymentSettings } from '../../events/deployments.ts'
import { Refusal } from '../../platform/refusal.ts'
import { type Autoscaling, defaultAutoscaling } from '../../schemas/deployments/deployments.ts'
import { deploymentTable, type Trigger } from './lifecycle.ts'
import { living } from './living.ts'
import type { NewRevision } from './revisions/decide.ts'

/** Settings that have events of their own; absent ones keep their value. */
export type Besides = {
  autoscaling?: Partial<Autoscaling>
  allowed_origins?: readonly string[]
  benchmark_gates?: readonly string[]
}

export const createDeployment = (
  deployment: Deployment,
  made: { deployment_id: string; owner: string; project: string } & DeploymentSettings,
  first: NewRevision,
  { autoscaling = {}, allowed_origins = [] }: Besides = {},
): DeploymentEvent[] => {
  if (deployment) throw new Error('the id of a deployment was taken')
  const { deployment_id } = made
  return [
    { type: 'deployment.created', data: made },
    ...scaleAs(deployment_id, defaultAutoscaling, autoscaling),
    ...allow(deployment_id, [], allowed_origins),
    { type: 'deployment.revision_created', data: { deployment_id, number: 1, ...first } },
  ]
}

function scaleAs(
  deployment_id: string,
  now: Autoscaling,
  change: Partial<Autoscaling>,
): DeploymentEvent[] {
  const next = { ...now, ...change }
  const same = (Object.keys(next) as (keyof Autoscaling)[]).every(key => next[key] === now[key])
  return same ? [] : [{ type: 'deployment.autoscaling_changed', data: { deployment_id, ...next } }]
}

function allow(
  deployment_id: string,
  now: readonly string[],
  origins: readonly string[],
): DeploymentEvent[] {
  for (const origin of origins) refuseBadOrigin(origin, origins.length)
  const allowed_origins = [...origins].sort()
  return isDeepStrictEqual(allowed_origins, now)
    ? []
    : [{ type: 'deployment.origins_changed', data: { deployment_id, allowed_origins } }]
}

/** Browsers send an origin in one form only; any other form would never match. */
function refuseBadOrigin(origin: string, count: number): void {
  if (origin === '*') {
    if (count > 1)
      throw new Refusal('invalid', 'allowed_origins: * allows every origin, so it stands alone')
    return
  }
  const sent = URL.canParse(origin) ? new URL(origin).origin : null
  if (sent === origin && /^https?:/.test(sent)) return
  throw new Refusal('invalid', `allowed_origins: ${origin} is no origin`, {
    code: 'deployment.bad_origin',
    hint:
      sent === null || sent === origin
        ? 'Write https://host or https://host:port'
        : `Browsers call it ${sent}`,
  })
}

function gateBy(
  deployment_id: string,
  now: readonly string[],
  gates: readonly string[],
): DeploymentEvent[] {
  const benchmark_gates = [...gates].sort()
  return isDeepStrictEqual(benchmark_gates, now)
    ? []
    : [{ type: 'deployment.gates_changed', data: { deployment_id, benchmark_gates } }]
}

export function changeDeployment(
  deployment: Deployment,
  change: Partial<DeploymentSettings>,
  { autoscaling = {}, allowed_origins, benchmark_gates }: Besides = {},
): DeploymentEvent[] {
  const { deployment_id, settings, ...now } = living(deployment)
  const next = { ...settings, ...change }
  if (next.min_replicas > next.max_replicas)
    throw new Refusal(
      'invalid',
      `replicas.min is ${next.min_replicas}, more than replicas.max, which is ${next.max_replicas}`,
    )
  const same = (Object.keys(next) as (keyof DeploymentSettings)[]).every(
    key => next[key] === settings[key],
  )
  return [
    ...(same ? [] : [{ type: 'deployment.changed' as const, data: { deployment_id, ...next } }]),
    ...scaleAs(deployment_id, now.autoscaling, autoscaling),
    ...allow(deployment_id, now.allowed_origins, allowed_origins ?? now.allowed_origins),
    ...gateBy(deployment_id, now.benchmark_gates, benchmark_gates ?? now.benchmark_gates),
  ]
}

/** A change of the whole deployment, requested by a person or caused by its replicas. */
export function move(
  deployment: Deployment,
  trigger: Trigger,
  reason: string | null = null,
): DeploymentEvent[] {
  if (!deployment) throw new Error('a deployment that was never created has no state')
  const { deployment_id, state } = deployment
  const next = deploymentTable[state][trigger]
  if (next === 'stay' || next === 'creating') return []
  if (next === 'refuse')
    throw new Refusal('conflict', `The deployment is ${state}`, {
      code: `deployment.${state}`,
      data: { state },
    })
  if (next === 'suspended') return [{ type: 'deployment.suspended', data: { deployment_id } }]
  if (next === 'deleted') return [{ type: 'deployment.deleted', data: { deployment_id } }]
  return [{ type: 'deployment.state_changed', data: { deployment_id, state: next, reason } }]
}
