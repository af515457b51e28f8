/** One record to append. `partitionOf` decides its partition, never a client library. */
export type LogRecord = {
  /** Holds no NUL character. */
  key: string
  /** Small text headers; fact records carry none (each costs about 40 bytes on Kafka). */
  headers?: Record<string, string>
  value: Buffer
}

/** The place of a record; offsets of a partition have no gaps and start at 0. */
export type Position = { topic: string; partition: number; offset: bigint }

export type ReadRecord = LogRecord & { offset: bigint }

/** Records of one topic and partition in offset order; `records` is never empty. */
export type Batch = { topic: string; partition: number; records: ReadRecord[] }

export type ReadOptions = { maxBytes: number; signal: AbortSignal }

/**
 * The append-only log under both write paths (adapters: memory, postgres, kafka).
 *
 * - Order: records with the same key keep the order of one process's calls of `append`.
 * - Durability: `append` resolves once the records survive a kill of any process. If it rejects with
 *   `LogUnavailable`, the outcome is unknown: the records may or may not be stored.
 * - There are no consumer groups: callers decide who reads which partition.
 */
export type EventLog = {
  /** Returns the position of each record, in order. Rejects within 10 s if the log is unreachable. */
  append(topic: string, records: readonly LogRecord[]): Promise<Position[]>
  /**
   * Yields batches from offset `from` (inclusive), then waits for more, and returns when `signal` aborts. While the
   * log is unreachable it waits, and continues within 2 s of its return. Buffers about `maxBytes` of values, but at
   * least one record. A `from` below the first retained offset starts there; one past the end throws
   * `LogShortened`. A record that cannot be read throws `LogUnreadable`, after all records before it.
   */
  read(
    topic: string,
    partition: number,
    from: bigint,
    options: ReadOptions,
  ): AsyncIterableIterator<Batch>
  /** The next offset of each partition; index = partition. */
  end(topic: string): Promise<bigint[]>
  /** The first retained offset of each partition; index = partition. */
  start(topic: string): Promise<bigint[]>
  /**
   * Ends reads and refuses further appends, after finishing those in flight. May be called twice.
   */
  close(): Promise<void>
}

/** A reader asked for an offset past the end: the log is shorter than it once was. */
export class LogShortened extends Error {
  constructor(topic: string, partition: number, from: bigint, end: bigint) {
    super(
      `Partition ${partition} of ${topic} ends at ${end}, but the reader continues at ${from}: the log has lost records, or is a different one.`,
    )
    this.name = 'LogShortened'
  }
}

/** The log holds something at this offset that this program cannot read as records; waiting does not help. */
export class LogUnreadable extends Error {
  constructor(topic: string, partition: number, offset: bigint, cause: Error) {
    super(
      `Partition ${partition} of ${topic} cannot be read from offset ${offset} on: ${cause.message}`,
      { cause },
    )
    this.name = 'LogUnreadable'
  }
}

/** The log is unreachable or did not respond in time; the outcome of an append is unknown. */
export class LogUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'LogUnavailable'
  }
}

/** A record is larger than the log accepts, and was not stored; an operator has to raise the named limit. */
export class RecordTooLarge extends LogUnavailable {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'RecordTooLarge'
  }
}

/** Whether the log could not be reached. A record that is too large says nothing about the others. */
export const isLogAway = (error: unknown): error is LogUnavailable =>
  error instanceof LogUnavailable && !(error instanceof RecordTooLarge)
