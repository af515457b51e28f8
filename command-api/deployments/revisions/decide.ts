import type { Deployment, DeploymentEvent, Revision } from '../../../events/deployments.ts'
import { Refusal } from '../../../platform/refusal.ts'
import type { Check, Serving, Source } from '../../../schemas/deployments/deployments.ts'
import { deploymentTable, revisionTable } from '../lifecycle.ts'
import { living, type Made } from '../living.ts'

/** One stream keeps everything a deployment ever had, so revisions are bounded. */
export const mostRevisions = 1000

export type NewRevision = {
  revision_id: string
  source: Source
  serving: Serving
  auto_promote: boolean
}

export function createRevision(deployment: Deployment, revision: NewRevision): DeploymentEvent[] {
  const { deployment_id, revisions } = living(deployment)
  const number = Object.keys(revisions).length + 1
  if (number > mostRevisions)
    throw new Refusal('conflict', `A deployment has at most ${mostRevisions} revisions`, {
      code: 'deployment.revisions_full',
      hint: 'Create another deployment',
    })
  return [{ type: 'deployment.revision_created', data: { deployment_id, number, ...revision } }]
}

export type Progress = {
  state: 'placing' | 'pulling' | 'loading' | 'checking'
  reason: string | null
}

export function progressRevision(
  deployment: Deployment,
  revision_id: string,
  { state, reason }: Progress,
): DeploymentEvent[] {
  const known = revisionIn(deployment, revision_id)
  if (!known || revisionTable[known.state].progress === 'stay') return []
  if (known.state === state && known.state_reason === reason) return []
  const { deployment_id } = living(deployment)
  return [
    { type: 'deployment.revision_progressed', data: { deployment_id, revision_id, state, reason } },
  ]
}

/** The benchmarks that refuse a revision, in comparison with the promoted one. */
export type Gate = { promoted: string | null; failed: readonly string[] }

/**
 * Ready, and promoted at once if requested at its creation and no benchmark refuses it. A revision overtaken by a later one is not promoted
 * automatically.
 */
export function revisionReady(
  deployment: Deployment,
  revision_id: string,
  { checks, load_s, gate }: { checks: Check[]; load_s: number; gate: Gate },
): DeploymentEvent[] {
  const known = revisionIn(deployment, revision_id)
  if (!known || revisionTable[known.state].ready === 'stay') return []
  const { deployment_id, promoted_revision_id: previous, revisions } = living(deployment)
  const ready = { deployment_id, revision_id, checks, load_s }
  const isOvertaken = previous !== null && (revisions[previous]?.number ?? 0) > known.number
  if (!known.auto_promote || isOvertaken)
    return [{ type: 'deployment.revision_ready', data: ready }]
  if (gate.promoted !== previous) throw new Error('another revision was promoted meanwhile')
  if (gate.failed.length > 0)
    return [
      { type: 'deployment.revision_ready', data: ready },
      {
        type: 'deployment.revision_not_promoted',
        data: { deployment_id, revision_id, reason: gate.failed.join('; ') },
      },
    ]
  return [
    { type: 'deployment.revision_ready', data: ready },
    {
      type: 'deployment.promoted',
      data: {
        ...{ deployment_id, revision_id },
        previous_revision_id: previous,
        reason: 'as soon as it was ready',
      },
    },
  ]
}

export function revisionFailed(
  deployment: Deployment,
  revision_id: string,
  { reason, checks }: { reason: string; checks: Check[] },
): DeploymentEvent[] {
  const known = revisionIn(deployment, revision_id)
  if (!known || revisionTable[known.state].fail === 'stay') return []
  const { deployment_id, promoted_revision_id, state } = living(deployment)
  const failed: DeploymentEvent = {
    type: 'deployment.revision_failed',
    data: { deployment_id, revision_id, reason, checks },
  }
  const next = promoted_revision_id === null ? deploymentTable[state].fails : 'stay'
  if (next !== 'failed') return [failed]
  return [
    failed,
    { type: 'deployment.state_changed', data: { deployment_id, state: next, reason } },
  ]
}

export function retireRevision(
  deployment: Deployment,
  revision_id: string,
  reason: string,
): DeploymentEvent[] {
  const made = living(deployment)
  const known = knownRevision(made, revision_id)
  if (made.promoted_revision_id === revision_id)
    throw new Refusal('conflict', `${revision_id} is promoted; promote another revision first`, {
      code: 'deployment.revision_promoted',
    })
  if (revisionTable[known.state].retire === 'stay') return []
  const { deployment_id } = made
  return [{ type: 'deployment.revision_retired', data: { deployment_id, revision_id, reason } }]
}

export type Promotion = {
  revision_id: string
  reason: string
  /** Undefined if it does not matter. */
  expected: string | null | undefined
  /** The benchmarks that refuse it, which a maintainer overrides. */
  overridden?: readonly string[]
}

export function promote(
  deployment: Deployment,
  { revision_id, reason, expected, overridden = [] }: Promotion,
): DeploymentEvent[] {
  const made = living(deployment)
  const { deployment_id, promoted_revision_id: previous } = made
  const { state } = knownRevision(made, revision_id)
  if (expected !== undefined && expected !== previous)
    throw new Refusal(
      'conflict',
      `The promoted revision is ${previous ?? 'none'}, not ${expected ?? 'none'} as the request expects`,
      { code: 'deployment.promoted_meanwhile', hint: 'Check the revisions, then try again' },
    )
  if (previous === revision_id) return []
  refuseUnready(revision_id, state)
  const data = { deployment_id, revision_id, previous_revision_id: previous, reason }
  return [{ type: 'deployment.promoted', data }, ...overrides(data, overridden)]
}

const overrides = (
  { deployment_id, revision_id }: { deployment_id: string; revision_id: string },
  overridden: readonly string[],
): DeploymentEvent[] =>
  overridden.length === 0
    ? []
    : [
        {
          type: 'deployment.gates_overridden',
          data: { deployment_id, revision_id, failed: [...overridden] },
        },
      ]

export type RollBack = { to: string | null; reason: string; overridden?: readonly string[] }

/** Rolls back to the previously promoted revision, or to another one that is still ready. */
export function rollBack(
  deployment: Deployment,
  { to, reason, overridden = [] }: RollBack,
): DeploymentEvent[] {
  const made = living(deployment)
  const { deployment_id, promoted_revision_id: previous } = made
  const revision_id = to ?? made.previous_revision_id
  if (revision_id === null)
    throw new Refusal('conflict', 'No revision was promoted before this one', {
      code: 'deployment.nothing_before',
    })
  const { state } = knownRevision(made, revision_id)
  if (revision_id === previous) throw new Refusal('conflict', `${revision_id} is already promoted`)
  refuseUnready(revision_id, state)
  const data = { deployment_id, revision_id, previous_revision_id: previous, reason }
  return [{ type: 'deployment.rolled_back', data }, ...overrides(data, overridden)]
}

function refuseUnready(revision_id: string, state: Revision['state']): void {
  if (state !== 'ready')
    throw new Refusal(
      'conflict',
      `Revision ${revision_id} is ${state}; only a ready one can be promoted`,
      {
        code: 'deployment.revision_not_ready',
        ...(state === 'retired' && { hint: 'Make a new revision of the same source' }),
      },
    )
}

function knownRevision({ revisions }: Made, revision_id: string): Revision {
  const known = Object.hasOwn(revisions, revision_id) ? revisions[revision_id] : null
  if (!known) throw new Refusal('not_found', `No such revision: ${revision_id}`)
  return known
}

/** For reports of replicas, which may arrive after the deployment has ended. */
const revisionIn = (deployment: Deployment, revision_id: string): Revision | null => {
  if (!deployment || deployment.state === 'deleted' || deployment.state === 'deleting') return null
  return deployment.revisions[revision_id] ?? null
}
