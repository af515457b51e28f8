import { isLogAway } from './log/event-log.ts'
import { isOutage } from './postgres/pool.ts'

/**
 * Works on each item, one after the other; one that fails is reported and does not keep the others waiting. If the
 * database or the log is away the rest is left for the next pass, because each would wait as long as the first. Returns
 * how many succeeded.
 */
export async function forEachApart<T>(
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
  failed: (error: unknown, item: T) => void,
): Promise<number> {
  let succeeded = 0
  for (const item of items)
    try {
      await work(item)
      succeeded++
    } catch (error) {
      if (isOutage(error) || isLogAway(error)) throw error
      failed(error, item)
    }
  return succeeded
}
