/**
 * The projector's message after each commit: rows with these record keys (streams of decisions, run ids of facts) may
 * have changed. Carries no content: listeners read the tables.
 */
export type Projected = {
  projection: string
  keys: readonly string[]
  /** The sum of the offsets of its partitions before and after: lets a listener detect a lost message. */
  after: number
  upTo: number
}

/** Wake-up messages between the parts of Forge, by channel. A lost one costs time, never correctness. */
export type WakeUps = {
  projected: Projected
  /** A person's access has changed (sessions ended, another role): drop everything cached about it. */
  access: { username: string }
  /** Maintenance was switched on or off. */
  maintenance: object
  /** The set of deployments that gateways serve has changed. */
  serving: object
}
