/** A machine that was not heard of for this long has lost its attempts. */
export const lostAfterMs = 600_000
/** Signs of life further apart than this have a gap between them. */
const maxGapMs = 60_000

/**
 * For how long this machine has noted without a gap that it is there. While the database was away nobody could note that,
 * so an old note means nothing until every machine had the time to write a new one.
 */
export function createPresence() {
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
    /** Whether what this machine reads of others shows which of them are lost. */
    mayJudge: () => since !== null && last - since >= lostAfterMs,
  }
}

export type Presence = ReturnType<typeof createPresence>
