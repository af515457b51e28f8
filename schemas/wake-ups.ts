/**
 * What the projector says after each commit: everything with these record keys (streams of decisions, run
 * ids of facts) can be read anew. Carries no content: who wakes up reads the tables.
 */
export type Projected = {
  projection: string
  keys: readonly string[]
  /** The sum of the offsets of its partitions before and after: a listener notices a message that was lost. */
  after: number
  upTo: number
}

/** Wake-up messages between the parts of Forge, by channel. A lost one costs time, never correctness. */
export type WakeUps = {
  projected: Projected
  /** A person's access has changed (sessions ended, another role): drop what was cached about it. */
  access: { username: string }
  /** Maintenance was switched on or off. */
  maintenance: object
  /** What gateways serve was changed. */
  serving: object
}
