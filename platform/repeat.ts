import { createBell } from './bell.ts'
import { pause } from './pause.ts'

export type Repeated = {
  /** Ends the current pause, or skips the next one. A pause after a failure is not cut short. */
  wake(): void
  /** Resolves when the current pass has ended. */
  stop(): Promise<void>
}

export type RepeatOptions = {
  /** Called with what `work` threw, to log it. */
  failed: (error: unknown) => void
  /** The pause after a first failure, in milliseconds; each further one doubles it, up to `most`. */
  retryMs?: { first: number; most: number }
  /** The pause before the first pass, in milliseconds. */
  firstAfterMs?: number
}

const usualRetryMs = { first: 500, most: 5_000 }

/**
 * Runs `work` again and again, one pass at a time, until stopped. Pauses in between for as many milliseconds as `work`
 * returns. If `work` throws, the error is reported and the next pass follows later.
 */
export function repeat(
  work: (signal: AbortSignal) => Promise<number>,
  { failed, retryMs = usualRetryMs, firstAfterMs = 0 }: RepeatOptions,
): Repeated {
  const stopping = new AbortController()
  const { signal } = stopping
  const bell = createBell()
  let failures = 0
  const once = async () => {
    const began = performance.now()
    try {
      const restMs = await work(signal)
      failures = 0
      await bell.wait(restMs, signal)
    } catch (error) {
      failed(error)
      // A failure after so long a pass starts the pauses from the first again.
      if (performance.now() - began > retryMs.most) failures = 0
      await pause(Math.min(retryMs.most, retryMs.first * 2 ** failures++), signal)
    }
  }
  const running = (async () => {
    if (firstAfterMs > 0) await bell.wait(firstAfterMs, signal)
    while (!signal.aborted) await once()
  })()
  return {
    wake: bell.ring,
    async stop() {
      stopping.abort()
      await running
    },
  }
}
