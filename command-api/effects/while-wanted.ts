type Wanting = {
  signal: AbortSignal
  /** False: somebody has ended it meanwhile. */
  isWanted: () => Promise<boolean>
}

/** How often it is asked, in milliseconds. */
const askMs = 2000

/** Work of a duty that people can end. Null once nobody wants it any more, which aborts the signal of the work. */
export async function whileWanted<T>(
  { signal, isWanted }: Wanting,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | null> {
  const unwanted = new AbortController()
  const asking = setInterval(async () => {
    // While the database is away, it counts as wanted.
    if (!(await isWanted().catch(() => true))) unwanted.abort()
  }, askMs)
  try {
    return await work(AbortSignal.any([signal, unwanted.signal]))
  } catch (error) {
    if (unwanted.signal.aborted) return null
    throw error
  } finally {
    clearInterval(asking)
  }
}
