import { encodeFact, type FactStamp, stampedFact, type UnstampedFact } from '../../events/fact.ts'
import type { EventLog, Position } from '../../platform/log/event-log.ts'
import { Refusal } from '../../platform/refusal.ts'

/**
 * Stamps one fact and appends it; resolves with its position after the log's acknowledgement. Refuses (503) while more
 * than 64 MiB of this process are unacknowledged, which bounds memory.
 */
export type AppendFact = (topic: string, stamp: FactStamp, fact: UnstampedFact) => Promise<Position>

/** The same for several facts, which keep their order. */
export type AppendFacts = (
  topic: string,
  stamp: FactStamp,
  facts: readonly UnstampedFact[],
) => Promise<Position[]>

export type FactAppends = { appendFact: AppendFact; appendFacts: AppendFacts }

const maxUnackedBytes = 64 * 1024 * 1024

/** Batching is the log's business: it joins the appends that arrive while it stores others. */
export function createFactAppends(
  log: Pick<EventLog, 'append'>,
  newEventId: () => string,
  maxBytes = maxUnackedBytes,
): FactAppends {
  let unackedBytes = 0
  const appendFacts: AppendFacts = async (topic, stamp, facts) => {
    const records = facts.map(fact => ({
      key: fact.run_id,
      value: encodeFact(stampedFact(fact, stamp, newEventId())),
    }))
    const bytes = records.reduce((sum, { value }) => sum + value.length, 0)
    if (unackedBytes + bytes > maxBytes) throw full()
    unackedBytes += bytes
    try {
      return await log.append(topic, records)
    } finally {
      unackedBytes -= bytes
    }
  }
  return {
    appendFacts,
    async appendFact(topic, stamp, fact) {
      const [position] = await appendFacts(topic, stamp, [fact])
      if (!position) throw new Error('the log returned no position')
      return position
    },
  }
}

const full = () =>
  new Refusal(
    'unavailable',
    'Reports arrive faster than the log accepts them; send this one again',
    {
      code: 'ingest.full',
      retryAfterSeconds: 2,
    },
  )
