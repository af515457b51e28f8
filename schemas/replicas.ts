import type { RecipeLock } from './recipes.ts'

/**
 * How one replica of a revision serves. The control plane decides it when it submits the replica's job; no JobSpec says it.
 */
export type ReplicaServing = {
  /** Where the engine listens on the machine that runs it. */
  host: string
  port: number
  /** Names of the model for clients; the first is the one in answers. */
  served_names: readonly string[]
  /** Further words for the engine's command line, at most `maxArgsBytes` in all. */
  args: readonly string[]
  tensor_parallel: number
}

/** They travel in an environment variable, which Linux bounds. */
export const maxArgsBytes = 65_536

/** A process that is to serve a revision. */
export type Replica = {
  /** A submit with the same id returns the same job, for a day. */
  replica_id: string
  /** The owner of the deployment, whose quota counts. */
  owner: { username: string; role: 'admin' | 'operator' }
  project: string
  /** Of its job. */
  name: string
  labels?: Record<string, string>
  /** That of the serving template (`lockOf`). */
  lock: RecipeLock
  params: Record<string, unknown>
  /** The model. */
  artifact_id: string
  /** Null: that of this machine. */
  profile: string | null
  /** Null: as many as the template needs at least. */
  gpus: number | null
  /** Of its job, -100 to 100. */
  priority: number
  serving: ReplicaServing
}
