/** Signs of life further apart than this have a gap between them. */
const maxGapMs = 60_000

/**
 * For how long this process has noted without a gap that it is there. While it or the database was away nobody could be heard,
 * so the silence of others means nothing until they have had `enoughMs` to break it.
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
    /** Whether the last sign is the first after a gap: of what happened in it nothing is known. */
    hasJustCome: () => since !== null && last === since,
    /** Whether the silence of others tells something. */
    mayJudge: () => since !== null && last - since >= enoughMs,
  }
}

export type Presence = ReturnType<typeof createPresence>
