/** The known end of a partition, and its waiting readers. */
export type Watermark = {
  readonly end: bigint
  /** Never decreases: a late, older read is ignored. */
  raise(end: bigint): void
  /** Resolves once the end is past `offset`, or `signal` aborts. */
  past(offset: bigint, signal: AbortSignal): Promise<void>
  readonly isAwaited: boolean
}

export function createWatermark(): Watermark {
  let known = 0n
  const waiters = new Set<{ offset: bigint; resolve: () => void }>()
  return {
    get end() {
      return known
    },
    get isAwaited() {
      return waiters.size > 0
    },
    raise(end) {
      if (end <= known) return
      known = end
      for (const waiter of [...waiters]) if (end > waiter.offset) waiter.resolve()
    },
    async past(offset, signal) {
      if (known > offset || signal.aborted) return
      await new Promise<void>(resolve => {
        const done = () => {
          waiters.delete(waiter)
          signal.removeEventListener('abort', done)
          resolve()
        }
        const waiter = { offset, resolve: done }
        waiters.add(waiter)
        signal.addEventListener('abort', done)
      })
    },
  }
}
