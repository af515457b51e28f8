import { setImmediate } from 'node:timers/promises'

const turnMs = 20

/** How long a piece of work may occupy the shared thread before other requests get their turn, in milliseconds. */
export function createTurn() {
  let end = performance.now() + turnMs
  return {
    /** Await it after each piece of work; null, which costs nothing, while the turn lasts. */
    pass(): Promise<void> | null {
      if (performance.now() < end) return null
      return setImmediate().then(() => {
        end = performance.now() + turnMs
      })
    },
  }
}
