export type Bell = {
  ring: () => void
  wait: (ms: number, signal: AbortSignal) => Promise<{ wasRung: boolean }>
}

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
        const wasRung = isRung
        isRung = false
        return { wasRung }
      }
      return await new Promise(resolve => {
        const end = (wasRung: boolean) => {
          clearTimeout(timer)
          signal.removeEventListener('abort', giveUp)
          waiting.delete(wake)
          resolve({ wasRung })
        }
        const wake = () => end(true)
        const giveUp = () => end(false)
        const timer = setTimeout(giveUp, ms)
        signal.addEventListener('abort', giveUp)
        waiting.add(wake)
      })
    },
  }
}
