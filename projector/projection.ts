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
  /** Null: the log of its topic is kept for ever. */
  carryOver: CarryOver | null
  /** `halt`: stop the partition and report it. `park`: set the record aside and continue. */
  onPoison: 'halt' | 'park'
}

/**
 * How the runs of a fact topic go to a new generation where the log no longer holds all of their records: copied
 * from the live tables, the rows of one run as of one moment (ADR 11). SQL names schemas; `$1` are ids of runs.
 */
export type CarryOver = {
  /** The table with one row a run: `run_id`, and in `first_offset` where the run begins on the log. */
  runs: string
  /** Its column by which the other tables refer to a run. */
  id: string
  /** How many rows go with row `r` of it at once. */
  weight: string
  /** The table by whose `rowLock` whoever rewrites a run besides the projector is kept from it meanwhile. */
  lockedIn: string | null
  /** Copy what a further record may change, after the run's own row. */
  heads: readonly string[]
  /** What no record changes any more: rows `t` of a table, copied in ranges of its key, which begins with `id`. */
  rest: readonly { table: string; key: readonly string[]; where: string }[]
}

/** One handler for each event type of a union; a missing one does not compile. */
export type Handlers<Tables, E extends Event> = {
  [T in E['type']]: (
    tx: Kysely<Tables>,
    event: Recorded<Extract<E, { type: T }>>,
  ) => Promise<unknown>
}
