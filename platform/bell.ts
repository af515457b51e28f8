export type Bell = { ring: () => void; wait: (ms: number, signal: AbortSignal) => Promise<void> }

/**
 * Whoever waits goes on at a ring, after the time or when the signal aborts, whichever comes first. A ring
 * wakes all who wait; while nobody does it is kept for the next one.
 */
export function createBell(): Bell {
  let isRung = false
  const waiting = new Set<() => void>()
  return {
    ring() {
      isRung = waiting.size === 0
      for (const wake of [...waiting]) wake()
    },
    async wait(ms, signal) {
      if (isRung || signal.aborted) {
        isRung = false
        return
      }
      await new Promise<void>(resolve => {
        const wake = () => {
          clearTimeout(timer)
          signal.removeEventListener('abort', wake)
          waiting.delete(wake)
          resolve()
        }
        const timer = setTimeout(wake, ms)
        signal.addEventListener('abort', wake)
        waiting.add(wake)
      })
    },
  }
}
