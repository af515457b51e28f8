import { isLogAway } from './log/event-log.ts'
import { isOutage } from './postgres/pool.ts'

/**
 * Processes the items one by one; a failed item is reported and does not hold up the others. If the database or the
 * log is unavailable, the rest is left to the next pass, because each item would wait as long as the first. Returns
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
