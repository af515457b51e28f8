/** The pauses of a loop that polls: short while it finds something, and longer once it has found nothing for a while. */
export type PollPace = {
  /** Starts the short pauses again. */
  found(): void
  /** The next pause, in milliseconds. */
  nextMs(): number
}

/** How often in a row a poll may find nothing before the pauses grow. */
const patientPolls = 20

export function createPollPace(shortestMs: number, longestMs: number): PollPace {
  let idlePolls = 0
  return {
    found() {
      idlePolls = 0
    },
    nextMs() {
      const doublings = Math.max(0, idlePolls++ - patientPolls)
      return Math.min(longestMs, shortestMs * 2 ** doublings)
    },
  }
}
