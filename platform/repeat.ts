import { createBell } from './bell.ts'
import { pause } from './pause.ts'

export type Repeated = {
  /** Ends the present rest, or skips the next one. A pause after a failure is not cut short. */
  wake(): void
  /** Resolves when the current pass has ended. */
  stop(): Promise<void>
}

export type RepeatOptions = {
  /** Called with what `work` threw, to log it. */
  failed: (error: unknown) => void
  /** The pause after a first failure, in milliseconds; each further one doubles it, up to `most`. */
  retryMs?: { first: number; most: number }
  /** The rest before the first time, in milliseconds. */
  firstAfterMs?: number
}

const usualRetryMs = { first: 500, most: 5_000 }

/**
 * Does `work` again and again, one at a time, until it is stopped. In between it rests for as many milliseconds
 * as `work` returns. What `work` throws is reported and the work tried again later.
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
      // What went well for so long begins anew.
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
