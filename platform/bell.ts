export type Bell = { ring: () => void; wait: (ms: number, signal: AbortSignal) => Promise<void> }

/** Waits for a ring or the time, whichever comes first; a ring while nobody waits is not lost. */
export function createBell(): Bell {
  let rung = false
  let wakeUp: (() => void) | null = null
  return {
    ring() {
      rung = true
      wakeUp?.()
    },
    async wait(ms, signal) {
      if (!rung && !signal.aborted)
        await new Promise<void>(resolve => {
          const timer = setTimeout(resolve, ms)
          wakeUp = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      wakeUp = null
      rung = false
    },
  }
}
