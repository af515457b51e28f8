export type Remembering = {
  /** How long a value is used, in milliseconds; after half of that it is looked up again. */
  ttlMs: number
  /** While the source fails, values up to this age are returned. */
  staleMs: number
}

type FindAll<T> = (keys: string[]) => Promise<Map<string, T>>
type Known<T> = { value: T | null; readAt: number }

const maxKnown = 50_000
/** For this long after a failure, stale values are returned at once instead of after another failure. */
const failedRecentlyMs = 1_000

export type Remembered<T> = ((key: string) => Promise<T | null>) & {
  /** Drops the values that match; callers after this never get a value read before it. */
  forget(matches: (value: T | null, key: string) => boolean): void
}

/**
 * Caches what `findAll` returns per key; null for keys missing there. Keys in steady use are refreshed in the
 * background, without waiting. `clock`: milliseconds that never decrease.
 */
export function remembered<T>(
  { ttlMs, staleMs }: Remembering,
  findAll: FindAll<T>,
  clock = () => performance.now(),
): Remembered<T> {
  const known = new Map<string, Known<T>>()
  let failedAt = Number.NEGATIVE_INFINITY
  let forgotten = 0
  // All keys become due at the same time, so that they share queries.
  const periodOf = (ms: number) => Math.floor((2 * ms) / ttlMs)
  const ask = inBatches(async (keys: string[]) => {
    const readAt = clock()
    const before = forgotten
    try {
      const found = await findAll(keys)
      // `forget` was called meanwhile and this read may predate it: good for its callers, but not to keep.
      if (before !== forgotten) return found
      if (known.size + keys.length > maxKnown) known.clear()
      for (const key of keys) known.set(key, { value: found.get(key) ?? null, readAt })
      return found
    } catch (error) {
      failedAt = clock()
      throw error
    }
  })

  const find = async (key: string) => {
    const now = clock()
    const old = known.get(key)
    if (!old) return await ask(key)
    if (periodOf(old.readAt) === periodOf(now)) return old.value
    const age = now - old.readAt
    const fresh = ask(key)
    if (age < ttlMs || (age < staleMs && now - failedAt < failedRecentlyMs)) return old.value
    return await fresh.catch(error => {
      if (age < staleMs) return old.value
      throw error
    })
  }
  return Object.assign(find, {
    forget(matches: (value: T | null, key: string) => boolean) {
      forgotten++
      for (const [key, { value }] of known) if (matches(value, key)) known.delete(key)
    },
  })
}

/**
 * One query runs at a time; keys requested meanwhile share the next one. So a thousand runs that report once a second
 * cost a few queries a second, not a thousand.
 */
export function inBatches<T>(findAll: FindAll<T>): (key: string) => Promise<T | null> {
  let waiting = new Map<string, PromiseWithResolvers<T | null>>()
  let isAsking = false

  const ask = async (batch: typeof waiting) => {
    try {
      const found = await findAll([...batch.keys()])
      for (const [key, { resolve }] of batch) resolve(found.get(key) ?? null)
    } catch (error) {
      for (const { reject } of batch.values()) reject(error)
    }
  }
  const askAll = async () => {
    while (waiting.size > 0) {
      const batch = waiting
      waiting = new Map()
      await ask(batch)
    }
    isAsking = false
  }

  return key => {
    const already = waiting.get(key)
    if (already) return already.promise
    const found = Promise.withResolvers<T | null>()
    // Callers see the rejection; a refresh in the background has no caller.
    found.promise.catch(() => {})
    waiting.set(key, found)
    if (!isAsking) {
      isAsking = true
      setImmediate(() => void askAll())
    }
    return found.promise
  }
}
