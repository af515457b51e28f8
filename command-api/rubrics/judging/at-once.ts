/** Runs the work for each item, a few at a time. After an error no further item begins; it is thrown once all work has ended. */
export async function atOnce<T>(
  items: readonly T[],
  most: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const rest = items.values()
  let isOver = false
  const worker = async () => {
    for (let next = rest.next(); !next.done && !isOver; next = rest.next())
      await work(next.value).catch((error: unknown) => {
        isOver = true
        throw error
      })
  }
  const ends = await Promise.allSettled(
    Array.from({ length: Math.min(most, items.length) }, worker),
  )
  const failed = ends.find(end => end.status === 'rejected')
  if (failed) throw failed.reason
}
