import type { Kysely } from 'kysely'
import type { PoolClient } from 'pg'
import type { Event, Recorded } from '../events/event.ts'
import type { Batch } from '../platform/log/event-log.ts'

/**
 * Turns one topic into tables. `apply` runs in the transaction that also moves the checkpoint, once per record, in
 * offset order within a partition. It may use only the records and its own tables (no clock, no random), so that a
 * replay gives the same rows.
 */
export type TopicProjection = {
  name: string
  topic: string
  apply(tx: PoolClient, batches: readonly Batch[]): Promise<void>
  /** Clears its caches; called before the first batch and after any failure. */
  reset(): void
  /** Its tables, which a rebuild copies if the log no longer has all records. */
  tables: readonly string[]
  /** `halt`: stop the partition and report it. `park`: set the record aside and continue. */
  onPoison: 'halt' | 'park'
}

/** One handler for each event type of a union; a missing one does not compile. */
export type Handlers<Tables, E extends Event> = {
  [T in E['type']]: (
    tx: Kysely<Tables>,
    event: Recorded<Extract<E, { type: T }>>,
  ) => Promise<unknown>
}
