import { createBell } from './bell.ts'

export type Repeated = {
  /** Ends the rest, or lets the next one be none. */
  wake(): void
  /** Resolves when the work under way has ended. */
  stop(): Promise<void>
}

/**
 * Does `work` again and again until it is stopped. In between it rests for as many milliseconds as `work`
 * answers. `work` sees to its own failures.
 */
export function repeat(work: (signal: AbortSignal) => Promise<number>): Repeated {
  const stopping = new AbortController()
  const bell = createBell()
  const running = (async () => {
    while (!stopping.signal.aborted) {
      const restMs = await work(stopping.signal)
      await bell.wait(restMs, stopping.signal)
    }
  })()
  return {
    wake: bell.ring,
    async stop() {
      stopping.abort()
      bell.ring()
      await running
    },
  }
}
