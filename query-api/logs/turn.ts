import { setImmediate } from 'node:timers/promises'

const turnMs = 20

/** For long work in the thread that serves everybody: how long it may go on before others get their turn. */
export function createTurn() {
  let end = performance.now() + turnMs
  return {
    /** To be awaited after each piece of work; null, which takes no time, while the turn goes on. */
    pass(): Promise<void> | null {
      if (performance.now() < end) return null
      return setImmediate().then(() => {
        end = performance.now() + turnMs
      })
    },
  }
}
