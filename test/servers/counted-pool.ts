import type { Pool } from 'pg'

/** The same pool, and how often `query` was called on it. */
export function countedPool(pool: Pool): { counted: Pool; queries: () => number } {
  let queries = 0
  const counted = new Proxy(pool, {
    get(target, name: keyof Pool) {
      if (name === 'query') queries++
      const value = target[name]
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return { counted, queries: () => queries }
}
