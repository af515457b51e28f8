import type { DeploymentState, RevisionState } from './deployments.ts'

/** A deployment that is or will be deleted: its name is free. */
export const goneStates = ['deleting', 'deleted'] as const satisfies readonly DeploymentState[]
/** A deployment that needs no engines. */
export const restingStates = [
  'suspending',
  'suspended',
  ...goneStates,
] as const satisfies readonly DeploymentState[]
/** A deployment with an engine that responds. */
export const respondingStates = ['ready', 'degraded'] as const satisfies readonly DeploymentState[]

/** A revision that will never serve again. */
export const overStates = ['failed', 'retired'] as const satisfies readonly RevisionState[]

/** A replica that gets no new requests. */
export const leavingStates = ['draining', 'ended'] as const
