import type { EventLog, Position } from '../platform/log/event-log.ts'
import { Refusal } from '../platform/refusal.ts'

/**
 * Appends one fact of a run; resolves with its position after the log's acknowledgement. Refuses (503) while more
 * than 64 MiB of this process are unacknowledged, which bounds memory.
 */
export type AppendFact = (topic: string, runId: string, value: Buffer) => Promise<Position>

const maxUnackedBytes = 64 * 1024 * 1024

/** The log does the batching: it joins appends that arrive while it stores others. */
export function createAppendFact(log: EventLog, maxBytes = maxUnackedBytes): AppendFact {
  let unackedBytes = 0
  return async (topic, key, value) => {
    if (unackedBytes + value.length > maxBytes) throw full()
    unackedBytes += value.length
    try {
      const [position] = await log.append(topic, [{ key, value }])
      if (!position) throw new Error('the log returned no position')
      return position
    } finally {
      unackedBytes -= value.length
    }
  }
}

const full = () =>
  new Refusal('unavailable', 'More reports come than the log takes; send this one again', {
    code: 'ingest.full',
    retryAfterSeconds: 2,
  })
