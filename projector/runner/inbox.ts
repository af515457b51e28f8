import { createBell } from '../../platform/bell.ts'
import { type Batch, type EventLog, LogUnreadable } from '../../platform/log/event-log.ts'
import { pause } from '../../platform/pause.ts'

/** Maximum bytes of one transaction, and about the maximum read ahead of it. */
const maxBatchBytes = 4 * 1024 * 1024
const usuallyWorthwhileBytes = maxBatchBytes / 8
/**
 * A smaller batch waits for more records, three times as long as the last one took to apply (milliseconds). So a
 * single write is visible at once, while under load there are only a few transactions a second.
 */
const linger = { timesLast: 3, minMs: 5, maxMs: 100 }

/** How often to retry an unreadable record, in milliseconds. */
const unreadableMs = 2_000

export type Inbox = { take(): Promise<Batch[]>; close(): Promise<void> }

export type InboxOptions = {
  signal: AbortSignal
  /** A batch of this size is worth a transaction and does not wait for more records. Default: 512 KiB. */
  worthwhileBytes?: number | undefined
  /**
   * Called when a record of a partition cannot be read, and with null once reading continues. Other partitions are
   * not affected.
   */
  unreadable: (partition: number, why: LogUnreadable | null) => void
}

/** Reads all partitions concurrently; buffers at most one transaction's worth. */
export function openInbox(
  log: EventLog,
  topic: string,
  from: readonly bigint[],
  { signal: outer, worthwhileBytes = usuallyWorthwhileBytes, unreadable }: InboxOptions,
): Inbox {
  const closing = new AbortController()
  const signal = AbortSignal.any([outer, closing.signal])
  const arrived = createBell()
  const room = createBell()
  let waiting: Batch[] = []
  let bytes = 0
  let failure: Error | null = null
  let takenAt = performance.now()
  const receive = async (batch: Batch) => {
    waiting.push(batch)
    bytes += sizeOf(batch)
    arrived.ring()
    while (bytes >= maxBatchBytes && !signal.aborted) await room.wait(1000, signal)
  }
  /** Returns the error of an unreadable record; null once reading has been stopped. */
  const readFrom = async (next: { offset: bigint }, partition: number) => {
    try {
      const options = { maxBytes: maxBatchBytes, signal }
      for await (const batch of log.read(topic, partition, next.offset, options)) {
        next.offset = (batch.records.at(-1)?.offset ?? next.offset) + 1n
        unreadable(partition, null)
        await receive(batch)
      }
      return null
    } catch (error) {
      if (error instanceof LogUnreadable) return error
      failure = error as Error
      arrived.ring()
      return null
    }
  }
  const readers = from.map(async (offset, partition) => {
    const next = { offset }
    for (let why = await readFrom(next, partition); why; why = await readFrom(next, partition)) {
      unreadable(partition, why)
      await pause(unreadableMs, signal)
    }
  })
  outer.addEventListener('abort', arrived.ring, { once: true })
  const lingerFor = async (ms: number) => {
    const until = performance.now() + ms
    for (let left = ms; left > 0 && !failure && !signal.aborted; left = until - performance.now()) {
      if (bytes >= worthwhileBytes) return
      await arrived.wait(left, signal)
    }
  }
  return {
    async take() {
      const appliedMs = performance.now() - takenAt
      while (waiting.length === 0 && !failure && !signal.aborted) await arrived.wait(1000, signal)
      if (failure) throw failure
      await lingerFor(Math.min(linger.maxMs, Math.max(linger.minMs, appliedMs * linger.timesLast)))
      takenAt = performance.now()
      const taken = waiting
      waiting = []
      bytes = 0
      room.ring()
      return taken
    },
    async close() {
      closing.abort()
      outer.removeEventListener('abort', arrived.ring)
      room.ring()
      await Promise.all(readers)
    },
  }
}

const sizeOf = (batch: Batch) => batch.records.reduce((sum, record) => sum + record.value.length, 0)
