/** Throttles: runs the first call at once, and merges the calls of the next `ms` milliseconds into one afterwards. */
export function spaced(ms: number, call: () => void): () => void {
  let isResting = false
  let isMissed = false
  const pass = () => {
    if (isResting) {
      isMissed = true
      return
    }
    isResting = true
    setTimeout(() => {
      isResting = false
      if (!isMissed) return
      isMissed = false
      pass()
    }, ms).unref()
    call()
  }
  return pass
}
