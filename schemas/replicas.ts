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
