export type Bell = { ring: () => void; wait: (ms: number, signal: AbortSignal) => Promise<void> }

/**
 * `wait` ends at a ring, after its time or when its signal aborts, whichever comes first. A ring wakes all waiters;
 * if nobody waits, it is kept for the next waiter.
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
