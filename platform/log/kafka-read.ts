import {
  type Batch,
  LogShortened,
  LogUnreadable,
  type ReadOptions,
  type ReadRecord,
} from './event-log.ts'
import {
  createLink,
  type FetchedMessage,
  inTime,
  isPassing,
  type Link,
  type LinkOptions,
  leaderOf,
} from './kafka-link.ts'

/** How long the broker may hold a fetch at the end of a partition. */
const longPollMs = 1_000
const retryMs = 100
const readUncommitted = 0
/** The broker returns one batch whole, however large it is. */
const oneBatch = 1

/** Uses separate connections: a waiting fetch would block all later requests. */
export async function* readKafka(
  options: LinkOptions,
  topic: string,
  partition: number,
  from: bigint,
  { maxBytes, signal }: ReadOptions,
): AsyncGenerator<Batch, void> {
  const link = createLink(options)
  const aborted = new Promise<void>(resolve => {
    const abort = () => {
      // Also when the caller stops iterating.
      link.reset()
      resolve()
    }
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
  })
  let next = from
  try {
    while (!signal.aborted) {
      const fetched = await Promise.race([
        fetchOrRetry(link, topic, partition, next, maxBytes),
        aborted,
      ])
      if (!fetched || signal.aborted) return
      next = fetched.next
      for (const records of slices(fetched.records, maxBytes)) {
        next = (records.at(-1)?.offset ?? next) + 1n
        yield { topic, partition, records }
        if (signal.aborted) return
      }
    }
  } finally {
    link.reset()
  }
}

type Fetched = { records: ReadRecord[]; next: bigint }

/** Returns nothing after a transient failure; the next call uses new connections. */
async function fetchOrRetry(
  link: Link,
  topic: string,
  partition: number,
  next: bigint,
  maxBytes: number,
): Promise<Fetched> {
  try {
    return { records: await inTime(fetchFrom(link, topic, partition, next, maxBytes)), next }
  } catch (error) {
    if (isOutOfRange(error))
      return { records: [], next: await nearestTo(link, topic, partition, next) }
    link.reset()
    if (isPassing(error)) await new Promise(resolve => setTimeout(resolve, retryMs))
    else if (maxBytes === oneBatch) throw new LogUnreadable(topic, partition, next, error as Error)
    // One bad batch fails the whole response; fetched alone, it does not hide the batches before it.
    else return await fetchOrRetry(link, topic, partition, next, oneBatch)
    return { records: [], next }
  }
}

async function fetchFrom(
  link: Link,
  topic: string,
  partition: number,
  next: bigint,
  maxBytes: number,
): Promise<ReadRecord[]> {
  const cluster = await link.cluster([topic])
  const broker = await leaderOf(cluster, topic, partition)
  const response = await broker.fetch({
    maxWaitTime: longPollMs,
    minBytes: 1,
    maxBytes,
    isolationLevel: readUncommitted,
    topics: [{ topic, partitions: [{ partition, fetchOffset: next.toString(), maxBytes }] }],
  })
  const fetched = response.responses.flatMap(({ partitions }) => partitions)
  const messages = fetched.flatMap(({ messages }) => messages)
  if (messages.length === 0 && !response.clientSideThrottleTime)
    // kafkajs treats a batch with a wrong length as truncated and skips it.
    for (const { highWatermark } of fetched)
      if (BigInt(highWatermark) > next) throw new Error('it cannot be decoded into records')
  // The broker returns whole batches, even if `from` is inside one.
  const wanted = messages.filter(({ offset }) => BigInt(offset) >= next)
  if (wanted.some(({ isControlRecord }) => isControlRecord)) throw new Error(foreignMarker)
  // kafkajs does not notice damaged data.
  if (wanted.some(({ offset }, nth) => BigInt(offset) !== next + BigInt(nth)))
    throw new Error('the records there are not numbered one after another')
  return wanted.map(toRecord)
}

/**
 * It occupies an offset without being a record, so a reader waiting for the record at this offset would wait forever.
 */
const foreignMarker =
  'it holds a transaction marker, which Forge never writes; its topics must have no other producer'

function toRecord({ offset, key, value, headers }: FetchedMessage): ReadRecord {
  const texts = Object.entries(headers).map(([name, text]) => [name, text?.toString() ?? ''])
  return {
    offset: BigInt(offset),
    key: key?.toString() ?? '',
    ...(texts.length > 0 ? { headers: Object.fromEntries(texts) } : {}),
    value: value ?? Buffer.alloc(0),
  }
}

/** Replaces a trimmed offset by the first retained one. Throws for an offset past the end. */
async function nearestTo(
  link: Link,
  topic: string,
  partition: number,
  next: bigint,
): Promise<bigint> {
  const bound = async (fromBeginning: boolean) => {
    const cluster = await link.cluster([topic])
    const [answer] = await cluster.fetchTopicsOffset([
      { topic, partitions: [{ partition }], fromBeginning },
    ])
    return BigInt(answer?.partitions[0]?.offset ?? 0)
  }
  try {
    const [first, end] = await inTime(Promise.all([bound(true), bound(false)]))
    if (next <= end) return next < first ? first : next
    throw new LogShortened(topic, partition, next, end)
  } catch (error) {
    if (error instanceof LogShortened) throw error
    link.reset()
    return next
  }
}

const isOutOfRange = (error: unknown): boolean =>
  error instanceof Error && 'type' in error && error.type === 'OFFSET_OUT_OF_RANGE'

/** Slices whose values fit in `maxBytes`, with at least one record each. */
function* slices(records: readonly ReadRecord[], maxBytes: number): Generator<ReadRecord[]> {
  let slice: ReadRecord[] = []
  let bytes = 0
  for (const record of records) {
    if (slice.length > 0 && bytes + record.value.length > maxBytes) {
      yield slice
      slice = []
      bytes = 0
    }
    slice.push(record)
    bytes += record.value.length
  }
  if (slice.length > 0) yield slice
}
