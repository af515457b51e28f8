/**
 * What the projector says after each commit: everything with these record keys (streams of decisions, run
 * ids of facts) can be read anew. Carries no content: who wakes up reads the tables.
 */
export type Projected = { projection: string; keys: readonly string[] }

type AccessListener = (username: string) => void

/** Wake-ups between the parts of Forge. A lost one costs time, never truth. */
export type Signals = {
  publish(projected: Projected): void
  subscribe(listener: (projected: Projected) => void): () => void
  /** What this person may do has changed: sessions ended, another role. What was remembered of it is void. */
  publishAccess(username: string): void
  subscribeAccess(listener: AccessListener): () => void
  /** Maintenance was switched on or off. */
  publishMaintenance(): void
  subscribeMaintenance(listener: () => void): () => void
  close(): Promise<void>
}

export function inProcessSignals(): Signals {
  const listeners = new Set<(projected: Projected) => void>()
  const accessListeners = new Set<AccessListener>()
  const maintenanceListeners = new Set<() => void>()
  return {
    publish(projected) {
      for (const listener of listeners) listener(projected)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    publishAccess(username) {
      for (const listener of accessListeners) listener(username)
    },
    subscribeAccess(listener) {
      accessListeners.add(listener)
      return () => accessListeners.delete(listener)
    },
    publishMaintenance() {
      for (const listener of maintenanceListeners) listener()
    },
    subscribeMaintenance(listener) {
      maintenanceListeners.add(listener)
      return () => maintenanceListeners.delete(listener)
    },
    async close() {
      listeners.clear()
      accessListeners.clear()
      maintenanceListeners.clear()
    },
  }
}
