import {
  type Batch,
  type EventLog,
  type LogRecord,
  LogShortened,
  LogUnavailable,
  type Position,
  type ReadRecord,
} from './event-log.ts'
import { partitionOf } from './partition.ts'
import type { Topic } from './topic.ts'
import { createWatermark, type Watermark } from './watermark.ts'

type Partition = { records: ReadRecord[]; watermark: Watermark }

export type MemoryLog = EventLog & {
  /** While false, appends reject with `LogUnavailable` and readers wait. */
  setAvailable(available: boolean): void
}

/** A log for tests that fulfils the contract except for durability. */
export function createMemoryLog(topics: readonly Topic[]): MemoryLog {
  const partitions = new Map(topics.map(topic => [topic.name, emptyPartitions(topic.partitions)]))
  const closing = new AbortController()
  let isAvailable = true
  const partitionsOf = (topic: string): Partition[] => {
    const found = partitions.get(topic)
    if (!found) throw new Error(`there is no topic ${topic}`)
    return found
  }
  const ends = (topic: string) => partitionsOf(topic).map(({ records }) => BigInt(records.length))

  return {
    async append(topic, records) {
      const target = partitionsOf(topic)
      if (!isAvailable || closing.signal.aborted) throw new LogUnavailable('the log is not there')
      const positions = records.map(record => store(topic, target, record))
      for (const { records, watermark } of target) watermark.raise(BigInt(records.length))
      return positions
    },
    async *read(topic, partition, from, { maxBytes, signal }) {
      const source = partitionsOf(topic)[partition]
      if (!source) throw new Error(`${topic} has no partition ${partition}`)
      const end = BigInt(source.records.length)
      if (from > end) throw new LogShortened(topic, partition, from, end)
      const ending = AbortSignal.any([signal, closing.signal])
      for (let next = from; ; ) {
        await source.watermark.past(next, ending)
        if (ending.aborted) return
        const batch: Batch = { topic, partition, records: upTo(maxBytes, source.records, next) }
        next += BigInt(batch.records.length)
        yield batch
      }
    },
    end: async topic => ends(topic),
    start: async topic => partitionsOf(topic).map(() => 0n),
    async close() {
      closing.abort()
    },
    setAvailable(available) {
      isAvailable = available
      for (const { records, watermark } of [...partitions.values()].flat())
        if (available) watermark.raise(BigInt(records.length))
    },
  }
}

const emptyPartitions = (count: number): Partition[] =>
  Array.from({ length: count }, () => ({ records: [], watermark: createWatermark() }))

function store(topic: string, partitions: Partition[], record: LogRecord): Position {
  const partition = partitionOf(record.key, partitions.length)
  const records = partitions[partition]?.records ?? []
  const offset = BigInt(records.length)
  records.push({ ...record, offset })
  return { topic, partition, offset }
}

/** At least one record, then as many as fit. */
function upTo(maxBytes: number, records: readonly ReadRecord[], from: bigint): ReadRecord[] {
  const first = Number(from)
  let last = first
  let bytes = records[first]?.value.length ?? 0
  while (last + 1 < records.length) {
    bytes += records[last + 1]?.value.length ?? 0
    if (bytes > maxBytes) break
    last++
  }
  return records.slice(first, last + 1)
}
