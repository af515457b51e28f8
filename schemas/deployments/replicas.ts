import type { RecipeLock } from '../recipes.ts'

/**
 * How one replica of a revision serves. Decided by the control plane when it submits the replica's job; not part of
 * any JobSpec.
 */
export type ReplicaServing = {
  /**
   * Where the engine listens on a machine of a cluster. On the server's own machine it listens on a Unix socket instead
   * (`engineSocket`), and if it knows only TCP, on this port behind that socket.
   */
  host: string
  port: number
  /** Names of the model for clients; responses contain the first. */
  served_names: readonly string[]
  /** Additional command-line arguments for the engine, at most `maxArgsBytes` in total. */
  args: readonly string[]
  tensor_parallel: number
}

/** The socket of a run's engine. Its name ends as llama.cpp requires of the path of a socket. */
export const engineSocket = (runsDirectory: string, run_id: string): string =>
  `${runsDirectory}/${run_id}/engine/engine.sock`

/** They are passed in an environment variable, whose size Linux limits. */
export const maxArgsBytes = 65_536

/** A process that serves a revision. */
export type Replica = {
  /** A submit with the same id returns the same job, for a day. */
  replica_id: string
  /** The owner of the deployment, whose quota counts. */
  owner: { username: string; role: 'admin' | 'operator' }
  project: string
  /** In whose pool it counts; null: that of the project. */
  team?: string | null
  /** The name of its job. */
  name: string
  labels?: Record<string, string>
  /** The lock of the serving template (`lockOf`). */
  lock: RecipeLock
  params: Record<string, unknown>
  /** The model: one of the two. */
  artifact_id: string | null
  hub_ref: string | null
  /** Null: this machine's. */
  profile: string | null
  /** Null: the template's minimum. */
  gpus: number | null
  /** The priority of its job, -100 to 100. */
  priority: number
  serving: ReplicaServing
}
