import type { Kysely } from 'kysely'
import type { PoolClient } from 'pg'
import type { Event, Recorded } from '../events/event.ts'
import type { Batch } from '../platform/log/event-log.ts'

/**
 * How one topic becomes tables. `apply` runs inside the transaction that also moves the checkpoint, each
 * record once, in offset order within a partition; it may use nothing but the records and its own tables
 * (no clock, no random), so that a replay gives the same rows.
 */
export type TopicProjection = {
  name: string
  topic: string
  apply(tx: PoolClient, batches: readonly Batch[]): Promise<void>
  /** Forgets what it remembers of its tables; called before the first batch and after any failure. */
  reset(): void
  /** Its tables, for carrying them over to a new generation where the log no longer reaches back. */
  tables: readonly string[]
  /** `halt`: stop the partition and say so. `park`: keep the record aside and go on with the next. */
  onPoison: 'halt' | 'park'
}

/** One handler for each event type of a union; a missing one does not compile. */
export type Handlers<Tables, E extends Event> = {
  [T in E['type']]: (
    tx: Kysely<Tables>,
    event: Recorded<Extract<E, { type: T }>>,
  ) => Promise<unknown>
}
