import type { Logger } from 'pino'

/** Started parts, which are stopped in reverse order. */
export type Lifetime = {
  /** Registers how to stop a part; returns the part. */
  owns<T>(name: string, part: T, stop: (part: T) => Promise<unknown>): T
  /** Stops all parts, newest first; a part that hangs or fails does not block the others. */
  end(): Promise<void>
}

/** Maximum time for one part to stop, in milliseconds; draining requests takes up to 25 s. */
const partTimeoutMs = 30_000

export function createLifetime(logger: Logger): Lifetime {
  const parts: { name: string; stop: () => Promise<unknown> }[] = []
  return {
    owns(name, part, stop) {
      parts.push({ name, stop: () => stop(part) })
      return part
    },
    async end() {
      for (let part = parts.pop(); part; part = parts.pop()) {
        const began = performance.now()
        await stopOne(part, logger)
        logger.debug({ part: part.name, ms: Math.round(performance.now() - began) }, 'stopped')
      }
    },
  }
}

async function stopOne(part: { name: string; stop: () => Promise<unknown> }, logger: Logger) {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${part.name} did not stop in time`)), partTimeoutMs)
  })
  try {
    await Promise.race([part.stop(), late])
  } catch (error) {
    logger.error({ err: error, part: part.name }, 'a part failed to stop')
  } finally {
    clearTimeout(timer)
  }
}
