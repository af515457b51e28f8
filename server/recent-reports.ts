import type { Clock } from '../platform/time.ts'

/** How long reads wait for a report of the same caller, in milliseconds, and for those of how many callers. */
const rememberedMs = 10_000
const maxCallers = 10_000

/**
 * The newest positions in the log of what callers reported to this process. Reports leave no other trace of who sent them;
 * those that another process took are not known here, and a read may be ahead of them.
 */
export function createRecentReports(now: Clock) {
  const newest = new Map<string, { position: string; atMs: number }>()
  return {
    note(caller: string, position: string): void {
      // The newest goes last, so that the oldest is forgotten first.
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
