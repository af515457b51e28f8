/** Passes a call on at once, and those of the next `ms` milliseconds as one call after them. */
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
