/** Longer intervals between signs of life count as a gap. */
const maxGapMs = 60_000

/**
 * Tracks how long this process has been present without a gap. While it or the database was unavailable, it could
 * hear nobody, so the silence of others means nothing until they have had `enoughMs` to report.
 */
export function createPresence(enoughMs: number) {
  let since: number | null = null
  let last = 0
  return {
    noted(now: Date): void {
      const at = now.getTime()
      // A gap is also a suspended process, or a clock that was set.
      if (since === null || at < last || at - last > maxGapMs) since = at
      last = at
    },
    interrupt(): void {
      since = null
    },
    /** Whether the last sign is the first after a gap, during which nothing was observed. */
    hasJustCome: () => since !== null && last === since,
    /** Whether the silence of others is meaningful. */
    mayJudge: () => since !== null && last - since >= enoughMs,
  }
}

export type Presence = ReturnType<typeof createPresence>
