/** One record to append. `partitionOf` decides its partition, never a client library. */
export type LogRecord = {
  /** Holds no NUL character. */
  key: string
  /** Small text headers; fact records carry none (each costs about 40 bytes on Kafka). */
  headers?: Record<string, string>
  value: Buffer
}

/** Where a record stands: offsets of one topic and partition are dense and start at 0. */
export type Position = { topic: string; partition: number; offset: bigint }

export type ReadRecord = LogRecord & { offset: bigint }

/** Records of one topic and partition in offset order; `records` is never empty. */
export type Batch = { topic: string; partition: number; records: ReadRecord[] }

export type ReadOptions = { maxBytes: number; signal: AbortSignal }

/**
 * The append-only log under both lanes (adapters: memory, postgres, kafka).
 *
 * - Order: records of one key keep the order in which `append` was called for them by one process.
 * - Durability: `append` resolves after the records survive a kill of any process. When it rejects
 *   with `LogUnavailable` the outcome is unknown: the records may or may not be there.
 * - There are no consumer groups: who reads which partition is decided elsewhere.
 */
export type EventLog = {
  /** Answers one position a record, in the order given. Rejects within 10 s where the log is away. */
  append(topic: string, records: readonly LogRecord[]): Promise<Position[]>
  /**
   * Yields batches from offset `from` (inclusive) and then waits for more, until `signal` aborts,
   * whereupon it returns. While the log is away it waits and goes on within 2 s of its return.
   * Holds at most about `maxBytes` of values the reader has not taken, but always one record.
   * A `from` below the first retained offset starts at the first retained one; one past the end throws
   * `LogShortened`.
   */
  read(
    topic: string,
    partition: number,
    from: bigint,
    options: ReadOptions,
  ): AsyncIterableIterator<Batch>
  /** The offset the next record of each partition will get; index = partition. */
  end(topic: string): Promise<bigint[]>
  /** The first offset still held of each partition; index = partition. */
  start(topic: string): Promise<bigint[]>
  /**
   * Ends reads and refuses further appends; those under way are answered first.
   * May be called twice.
   */
  close(): Promise<void>
}

/** A reader was to go on from where the log has never been. */
export class LogShortened extends Error {
  constructor(topic: string, partition: number, from: bigint, end: bigint) {
    super(
      `Partition ${partition} of ${topic} ends at ${end} and was to be read from ${from}: the log has lost records, or is another one.`,
    )
    this.name = 'LogShortened'
  }
}

/** The log cannot be reached or did not answer in time; the outcome of an append is unknown. */
export class LogUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'LogUnavailable'
  }
}
