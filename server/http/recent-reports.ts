import type { Clock } from '../../platform/time.ts'

/** How long reads wait for a report of the same caller, in milliseconds, and how many callers are remembered. */
const rememberedMs = 10_000
const maxCallers = 10_000

/**
 * The newest log positions of each caller's reports to this process. Reports leave no other trace of their sender;
 * reports that another process accepted are unknown here, so a read may miss them.
 */
export function createRecentReports(now: Clock) {
  const newest = new Map<string, { position: string; atMs: number }>()
  return {
    note(caller: string, position: string): void {
      // The newest entry is last, so that the oldest is dropped first.
      newest.delete(caller)
      newest.set(caller, { position, atMs: now().getTime() })
      const [oldest] = newest.keys()
      if (newest.size > maxCallers && oldest !== undefined) newest.delete(oldest)
    },
    of(caller: string): string[] {
      const noted = newest.get(caller)
      return noted && now().getTime() - noted.atMs < rememberedMs ? [noted.position] : []
    },
  }
}
