import type { EnvironmentArgs } from '../../schemas/rl-environments/manifest.ts'
import type { SmokeRollout } from '../../schemas/rl-environments/rl-environments.ts'
import type { Asking } from '../rules/access.ts'

/** A deployment that rollouts may talk to. */
export type DeploymentForRollouts = {
  deployment_id: string
  revision_id: string
  /** The name under which the engine serves its model. */
  model: string
  /** The address of its inference. */
  url: string
}

/** Finds a deployment that the person may use; refuses any other. */
export type FindDeployment = (caller: Asking, asked: string) => Promise<DeploymentForRollouts>

export type EnvironmentToBuild = {
  /** The same for each attempt to build it: what an earlier one left is removed first. */
  build_id: string
  /** The archive on this machine. */
  archive: string
  digest: string
  entry: string
  args: EnvironmentArgs
  /** The number of rollouts, and the model that they talk to; null: the entry is only loaded. */
  rollouts: { count: number; url: string; model: string; token: string } | null
}

/** `error`: why the environment cannot be used; null: it can. */
export type BuildResult = { error: string | null; log: string; rollouts: SmokeRollout[] }

/** Builds an environment on this machine, and tries it there in isolation. */
export type BuildEnvironment = (
  wanted: EnvironmentToBuild,
  signal: AbortSignal,
) => Promise<BuildResult>
