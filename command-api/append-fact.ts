import { createAccumulator, LogFull } from '../platform/log/accumulator.ts'
import type { EventLog, Position } from '../platform/log/event-log.ts'
import { Refusal } from '../platform/refusal.ts'

export type FactLane = {
  /**
   * Appends one fact of a run; resolves with its position after the log's acknowledgement. Refuses (503) while more
   * than 64 MiB of this process are unacknowledged, which bounds memory.
   */
  append(topic: string, runId: string, value: Buffer): Promise<Position>
}

export function createFactLane(log: EventLog): FactLane {
  const accumulator = createAccumulator(log)
  return {
    append(topic, key, value) {
      try {
        return accumulator.append(topic, { key, value })
      } catch (error) {
        throw error instanceof LogFull ? full(error) : error
      }
    },
  }
}

const full = (cause: LogFull) =>
  new Refusal(
    'unavailable',
    'Reports arrive faster than the log can store them; send this one again',
    {
      code: 'ingest.full',
      retryAfterSeconds: 2,
      cause,
    },
  )
