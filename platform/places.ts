/** A fixed number of places for work of one kind. */
export type Places = {
  /** Waits for a place; returns what gives it back. Throws once `signal` aborts. */
  take(signal: AbortSignal): Promise<() => void>
}

export function createPlaces(count: number): Places {
  const waiting = new Set<() => void>()
  let free = count
  const giveBack = () => {
    const [next] = waiting
    if (next) next()
    else free++
  }
  const once = () => {
    let isGiven = false
    return () => {
      if (isGiven) return
      isGiven = true
      giveBack()
    }
  }
  return {
    async take(signal) {
      signal.throwIfAborted()
      if (free > 0) free--
      else
        await new Promise<void>((done, failed) => {
          const begin = () => {
            waiting.delete(begin)
            signal.removeEventListener('abort', leave)
            done()
          }
          const leave = () => {
            waiting.delete(begin)
            failed(signal.reason)
          }
          waiting.add(begin)
          signal.addEventListener('abort', leave, { once: true })
        })
      return once()
    },
  }
}
