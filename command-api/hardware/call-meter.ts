import { Refusal } from '../../platform/refusal.ts'

/** One call every ten seconds of each node (contract, "Limits"). */
const everyMs = 10_000
/** What a node may send at once: the hour that a client kept while it could not send. */
export const maxCallsAtOnce = 360
const maxNodes = 100_000

/**
 * Counts the calls of each node of a run, in each process. A node that sends seldom saves up calls; one that has used
 * them up is refused until the next is due.
 */
export function createCallMeter() {
  /** When a node's store of calls is full again, epoch milliseconds. */
  const fullAt = new Map<string, number>()
  return {
    count(runId: string, nodes: ReadonlySet<string>, now: Date): void {
      const ms = now.getTime()
      const counted = [...nodes].map(node => {
        const name = `${runId}\0${node}`
        return { name, node, full: Math.max(ms, fullAt.get(name) ?? 0) + everyMs }
      })
      for (const { node, full } of counted) {
        const tooEarlyMs = full - ms - maxCallsAtOnce * everyMs
        if (tooEarlyMs > 0) throw tooMany(node, Math.ceil(tooEarlyMs / 1000))
      }
      if (fullAt.size >= maxNodes) fullAt.clear()
      for (const { name, full } of counted) fullAt.set(name, full)
    },
  }
}

const tooMany = (node: string, retryAfterSeconds: number) =>
  new Refusal(
    'rate_limited',
    `Node '${node}' reports its hardware more than once every 10 s; send this again in ${retryAfterSeconds} s`,
    {
      code: 'hardware.too_many_calls',
      retryAfterSeconds,
      data: { limit: maxCallsAtOnce, every_s: everyMs / 1000 },
    },
  )
