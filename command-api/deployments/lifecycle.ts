import type { DeploymentState, RevisionState } from '../../schemas/deployments/deployments.ts'

/**
 * Triggers of a deployment's lifecycle. `serves`, `lacks`: its promoted revision has a ready replica, or none;
 * `fails`: its newest revision failed and none is promoted; `ends`: none of its replicas is running any longer.
 */
export type Trigger = 'serves' | 'lacks' | 'fails' | 'suspend' | 'resume' | 'ends' | 'delete'

/** `stay`: no change; `refuse`: the request is refused, naming the state. */
export type Next = DeploymentState | 'stay' | 'refuse'

const going = {
  serves: 'ready',
  suspend: 'suspending',
  resume: 'refuse',
  ends: 'stay',
  delete: 'deleting',
} as const
const stopped = {
  serves: 'stay',
  lacks: 'stay',
  fails: 'stay',
  suspend: 'refuse',
  resume: 'resuming',
  delete: 'deleting',
} as const

/** The lifecycle of a deployment (contract: "State machines"); total, so that no cell is undecided. */
export const deploymentTable: Record<DeploymentState, Record<Trigger, Next>> = {
  creating: { ...going, lacks: 'stay', fails: 'failed' },
  ready: { ...going, serves: 'stay', lacks: 'degraded', fails: 'stay' },
  degraded: { ...going, lacks: 'stay', fails: 'failed' },
  suspending: { ...stopped, ends: 'suspended' },
  suspended: { ...stopped, ends: 'stay' },
  resuming: { ...going, lacks: 'stay', fails: 'failed' },
  failed: { ...going, lacks: 'stay', fails: 'stay' },
  deleting: { ...stopped, resume: 'refuse', ends: 'deleted', delete: 'stay' },
  deleted: { ...stopped, resume: 'refuse', ends: 'stay', delete: 'refuse' },
}

export type RevisionTrigger = 'progress' | 'ready' | 'fail' | 'retire'

/** `go`: the trigger takes effect. A ready revision stays ready when its replicas fail: they are started again. */
const alive = { progress: 'go', ready: 'go', fail: 'go', retire: 'go' } as const
const over = { progress: 'stay', ready: 'stay', fail: 'stay', retire: 'stay' } as const

export const revisionTable: Record<RevisionState, Record<RevisionTrigger, 'go' | 'stay'>> = {
  pending: alive,
  placing: alive,
  pulling: alive,
  loading: alive,
  checking: alive,
  ready: { ...over, retire: 'go' },
  retired: over,
  failed: over,
}
