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
  /** A batch of this size is applied at once; smaller ones wait for more records under load, see `inbox.ts`. */
  worthwhileBytes?: number
  apply(tx: PoolClient, batches: readonly Batch[]): Promise<void>
  /** Applies a parked record after later ones of its run: it takes effect as the newest. */
  applyParked(tx: PoolClient, batch: Batch): Promise<void>
  /** Adds rows to the live tables that a projector of an earlier version left out. Idempotent. */
  fillIn(tx: PoolClient): Promise<void>
  /** Clears its caches; called before the first batch and after any failure. */
  reset(): void
  /** Null if its topic is never trimmed. */
  carryOver: CarryOver | null
  /** `halt`: stop the partition and report it. `park`: set the record aside and continue. */
  onPoison: 'halt' | 'park'
}

/**
 * How to carry runs whose records were trimmed to a new generation: by copying their rows from the live tables, all
 * rows of one run from one snapshot (ADR 11). The SQL names schemas; `$1` holds the ids of runs.
 */
export type CarryOver = {
  /** The table with one row per run: `run_id`, and `first_offset`, the offset of its first record. */
  runs: string
  /** Its column that other tables use to refer to a run. */
  id: string
  /** SQL: the number of rows copied together with row `r`. */
  weight: string
  /** The table whose `rowLock` keeps other writers, such as the compactor, away from a run during the copy. */
  lockedIn: string | null
  /** SQL that copies the rows that later records may change, after the run's own row. */
  heads: readonly string[]
  /** Immutable rows `t` of a table, copied in ranges of its key, which starts with `id`. */
  rest: readonly { table: string; key: readonly string[]; where: string }[]
  /** SQL for rows that name offsets, besides `first_offset`, when another log takes the place of theirs. */
  forget: readonly string[]
}

/** One handler for each event type of a union; a missing one does not compile. */
export type Handlers<Tables, E extends Event> = {
  [T in E['type']]: (
    tx: Kysely<Tables>,
    event: Recorded<Extract<E, { type: T }>>,
  ) => Promise<unknown>
}

/** A slice's projection of decisions, without its table types. Slices share no table. */
export type DecisionProjection = {
  /** Types of the events that it receives. */
  types: readonly string[]
  /** Applies events in log order. */
  apply(tx: Kysely<unknown>, events: readonly Recorded[]): Promise<unknown>
}
