/**
 * What the projector says after each commit: everything with these record keys (streams of decisions, run
 * ids of facts) can be read anew. Carries no content: who wakes up reads the tables.
 */
export type Projected = { projection: string; keys: readonly string[] }

/** Wake-ups between the parts of Forge. A lost one costs time, never truth. */
export type Signals = {
  publish(projected: Projected): void
  subscribe(listener: (projected: Projected) => void): () => void
  close(): Promise<void>
}

export function inProcessSignals(): Signals {
  const listeners = new Set<(projected: Projected) => void>()
  return {
    publish(projected) {
      for (const listener of listeners) listener(projected)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async close() {
      listeners.clear()
    },
  }
}
