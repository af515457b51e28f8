import { useEffect, useState } from 'react'

type Load<T> = () => Promise<T>
type Loaded = { value: unknown } | { error: unknown }

const loaded = new WeakMap<Load<unknown>, Loaded>()

/**
 * A module that is loaded on demand; null until it arrives, and a failure to load it is thrown. Not React's
 * `lazy`, which shows its placeholder for at least 300 ms. `load` must be the same function each time.
 */
export function usePart<T>(load: Load<T> | null): T | null {
  const [, redraw] = useState(0)
  useEffect(() => {
    if (load === null || 'value' in (loaded.get(load) ?? {})) return
    let isWanted = true
    const keep = (found: Loaded) => {
      loaded.set(load, found)
      if (isWanted) redraw(n => n + 1)
    }
    load().then(
      value => keep({ value }),
      error => keep({ error }),
    )
    return () => {
      isWanted = false
    }
  }, [load])
  const found = load === null ? undefined : loaded.get(load)
  if (found === undefined) return null
  if ('error' in found) throw found.error
  return found.value as T
}
