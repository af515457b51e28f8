/**
 * What the projector says after each commit: everything with these record keys (streams of decisions, run
 * ids of facts) can be read anew. Carries no content: who wakes up reads the tables.
 */
export type Projected = { projection: string; keys: readonly string[] }

/** What the parts of Forge wake each other with, by channel. A lost one costs time, never truth. */
export type WakeUps = {
  projected: Projected
  /** What this person may do has changed: sessions ended, another role. What was remembered of it is void. */
  access: { username: string }
  /** Maintenance was switched on or off. */
  maintenance: object
}
