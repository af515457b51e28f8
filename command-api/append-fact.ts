import { createAccumulator } from '../platform/log/accumulator.ts'
import type { EventLog, Position } from '../platform/log/event-log.ts'

export type FactLane = {
  /**
   * Appends one fact of a run and answers after the log's acknowledgement, with where it stands. Throws
   * `LogFull` (503) while more than 64 MiB of this process wait for theirs: nothing is kept without a bound.
   */
  append(topic: string, runId: string, value: Buffer): Promise<Position>
}

export function createFactLane(log: EventLog): FactLane {
  const accumulator = createAccumulator(log)
  return { append: (topic, key, value) => accumulator.append(topic, { key, value }) }
}

/** Opaque to clients: a place on the log that the read models must have passed (`Forge-Position`). */
export const logPosition = ({ topic, partition, offset }: Position): string =>
  Buffer.from(`l:${topic}:${partition}:${offset}`).toString('base64url')
