export type Remembering = {
  /** How long a found answer is believed, in milliseconds; it is asked for anew every half of it. */
  ttlMs: number
  /** When the source fails, an answer not older than this is given once more. */
  staleMs: number
}

type FindAll<T> = (keys: string[]) => Promise<Map<string, T>>
type Known<T> = { value: T | null; readAt: number }

const maxKnown = 50_000
/** After a failure what is stale is given at once for this long, instead of after another failure. */
const failedRecentlyMs = 1_000

export type Remembered<T> = ((key: string) => Promise<T | null>) & {
  /** The answers that match are asked for anew; whoever asks after this call gets none from before it. */
  forget(matches: (value: T | null, key: string) => boolean): void
}

/**
 * Remembers what `findAll` answers for a key; null stands for what it left out. A key in steady use is looked
 * up in the background and never waits. `clock`: milliseconds that only grow.
 */
export function remembered<T>(
  { ttlMs, staleMs }: Remembering,
  findAll: FindAll<T>,
  clock = () => performance.now(),
): Remembered<T> {
  const known = new Map<string, Known<T>>()
  let failedAt = Number.NEGATIVE_INFINITY
  let forgotten = 0
  // All keys fall due at once, not each at a time of its own: so they share their queries.
  const periodOf = (ms: number) => Math.floor((2 * ms) / ttlMs)
  const ask = inBatches(async (keys: string[]) => {
    const readAt = clock()
    const before = forgotten
    try {
      const found = await findAll(keys)
      // It may have read what was true before something was forgotten: good for those who asked then.
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
 * One query is under way at a time; keys asked for meanwhile go together in the next. So a thousand runs
 * that report once a second cost a few queries a second, not a thousand.
 */
function inBatches<T>(findAll: FindAll<T>): (key: string) => Promise<T | null> {
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
    const answer = Promise.withResolvers<T | null>()
    // Whoever waits hears of a failure; a look-up in the background has nobody who does.
    answer.promise.catch(() => {})
    waiting.set(key, answer)
    if (!isAsking) {
      isAsking = true
      queueMicrotask(() => void askAll())
    }
    return answer.promise
  }
}
