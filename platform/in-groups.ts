import { setImmediate as nextTurn } from 'node:timers/promises'

export type Grouping = {
  /** The largest group. */
  most: number
  /** How many groups may be processed at once. */
  atOnce: number
}

/** The outcome of each item, in order. */
export type Outcomes<O> = readonly PromiseSettledResult<O>[]

type Waiting<I, O> = { item: I; resolve(output: O): void; reject(error: unknown): void }

/**
 * For work that costs little more for many items than for one. An item is processed at once or, while enough groups
 * are under way, together with all others that arrive before one of these groups ends. If `work` rejects, so does
 * each item of its group.
 */
export function inGroups<I, O>(
  { most, atOnce }: Grouping,
  work: (items: readonly I[]) => Promise<Outcomes<O>>,
): (item: I) => Promise<O> {
  const waiting: Waiting<I, O>[] = []
  let underWay = 0

  const serve = async () => {
    // Requests that arrived together are read in one turn of the event loop, and share the first group.
    await nextTurn()
    while (waiting.length > 0) await workOn(work, waiting.splice(0, most))
    underWay--
  }

  return item =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (underWay === atOnce) return
      underWay++
      void serve()
    })
}

/** Never rejects: a fault rejects the items instead. */
async function workOn<I, O>(
  work: (items: readonly I[]) => Promise<Outcomes<O>>,
  group: readonly Waiting<I, O>[],
): Promise<void> {
  try {
    const outcomes = await work(group.map(({ item }) => item))
    for (const [index, { resolve, reject }] of group.entries()) {
      const outcome = outcomes[index]
      if (outcome?.status === 'fulfilled') resolve(outcome.value)
      else reject(outcome?.reason ?? new Error('an item of a group has no outcome'))
    }
  } catch (error) {
    for (const { reject } of group) reject(error)
  }
}
