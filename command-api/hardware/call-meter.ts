import { Refusal } from '../../platform/refusal.ts'

/** Each node may make one call every ten seconds (contract, "Limits"). */
const everyMs = 10_000
/** How many calls a node may make at once: a client keeps an hour of samples while it cannot send. */
export const maxCallsAtOnce = 360
const maxNodes = 100_000

/**
 * Counts the calls of each node of a run, in each process. A node that rarely sends saves up calls; one that has used them up
 * is refused until the next is due.
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
