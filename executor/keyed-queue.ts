/** Runs work by key: one piece for a key at a time, and for at most `width` keys at once. */
export type KeyedQueue = {
  /** Starts this work as soon as there is room; does nothing while there is other work on the key. */
  start(key: string, work: () => Promise<void>): void
  /** The keys with work that runs or waits for room. */
  busy(): ReadonlySet<string>
  /** Drops waiting work, and resolves when the running work has ended. */
  close(): Promise<void>
}

export function createKeyedQueue(
  width: number,
  failed: (error: unknown, key: string) => void,
): KeyedQueue {
  const waiting = new Map<string, () => Promise<void>>()
  const running = new Map<string, Promise<void>>()
  let isClosed = false
  const run = async (key: string, work: () => Promise<void>) => {
    try {
      await work()
    } catch (error) {
      failed(error, key)
    }
    running.delete(key)
    next()
  }
  const next = () => {
    for (const [key, work] of waiting) {
      if (running.size >= width || isClosed) return
      waiting.delete(key)
      running.set(key, run(key, work))
    }
  }
  return {
    start(key, work) {
      if (isClosed || running.has(key) || waiting.has(key)) return
      waiting.set(key, work)
      next()
    },
    busy: () => new Set([...running.keys(), ...waiting.keys()]),
    async close() {
      isClosed = true
      waiting.clear()
      await Promise.all(running.values())
    },
  }
}
