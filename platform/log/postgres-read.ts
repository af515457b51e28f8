import type { Pool, QueryResult } from 'pg'
import { pause } from '../pause.ts'
import { createPollPace } from '../poll-pace.ts'
import { asBigints, isBusy, isOutage } from '../postgres/pool.ts'
import { type Repeated, repeat } from '../repeat.ts'
import {
  type Batch,
  LogShortened,
  LogUnreadable,
  type ReadOptions,
  type ReadRecord,
} from './event-log.ts'
import type { Group, LaneId } from './group-commit.ts'
import { createTailCache } from './tail-cache.ts'
import { createWatermark, type Watermark } from './watermark.ts'

export type Reading = {
  read(lane: LaneId, from: bigint, options: ReadOptions): AsyncIterableIterator<Batch>
  /** Wakes the readers of this process and passes them the records without a fetch. */
  committed(group: Group, first: bigint): void
  /** Resolves when the last query has finished after the signal aborted. */
  ended(): Promise<void>
}

/** `next` is the offset to continue from; `missingSince` when its record was first not found. */
type Reader = ReadOptions & { next: bigint; missingSince: number | null }

type Followed = { watermark: Watermark; readers: Set<Reader> }

type Fetched = { records: ReadRecord[]; next: bigint }

/** How often to check for records of other processes, in milliseconds: at first, and when none have arrived for a second. */
const pollMs = { first: 50, idle: 200 }
/** Pause after a failed query. */
const retryMs = 250
/** How soon to look again for a record that was not found, in milliseconds. */
const missingMs = 10
/** A record that was not found for this long is lost, in milliseconds. */
const lostAfterMs = 10_000
/** Maximum records per fetch; `maxBytes` may reduce it. */
const fetchRecords = 2000

export function createReading(
  pool: Pool,
  lanes: readonly LaneId[],
  cacheBytes: number,
  closing: AbortSignal,
): Reading {
  const followed = new Map(
    lanes.map(({ lane }) => [
      lane,
      { watermark: createWatermark(), readers: new Set() } as Followed,
    ]),
  )
  const followedLane = (lane: number): Followed => {
    const found = followed.get(lane)
    if (!found) throw new Error(`there is no lane ${lane}`)
    return found
  }
  const cache = createTailCache(cacheBytes)

  const underWay = new Set<Promise<unknown>>()
  const track = async <T>(work: Promise<T>): Promise<T> => {
    underWay.add(work)
    return await work.finally(() => underWay.delete(work))
  }

  /** Takes records of this process from memory, all others from the table. */
  const take = (id: LaneId, reader: Reader): Promise<Fetched> => {
    const records = cache.take(id.lane, reader.next, reader.maxBytes)
    return records.length > 0
      ? Promise.resolve({ records, next: reader.next + BigInt(records.length) })
      : track(fetchOrPause(pool, id, reader))
  }

  async function* follow(id: LaneId, reader: Reader) {
    const { lane, topic, partition } = id
    const { watermark, readers } = followedLane(lane)
    const { signal } = reader
    await track(raiseToEnd(pool, lane, watermark, signal))
    if (!signal.aborted && reader.next > watermark.end)
      throw new LogShortened(topic, partition, reader.next, watermark.end)
    while (!signal.aborted) {
      await watermark.past(reader.next, signal)
      if (signal.aborted) return
      const { records, next } = await take(id, reader)
      reader.next = next
      if (records.length > 0 && !signal.aborted) yield { topic, partition, records }
      cache.dropBefore(lane, lowest(readers, watermark.end))
    }
  }

  async function* read(id: LaneId, from: bigint, { maxBytes, signal }: ReadOptions) {
    const { watermark, readers } = followedLane(id.lane)
    const ended = AbortSignal.any([signal, closing])
    const reader = { next: from, maxBytes, signal: ended, missingSince: null }
    readers.add(reader)
    try {
      yield* follow(id, reader)
    } finally {
      readers.delete(reader)
      cache.dropBefore(id.lane, lowest(readers, watermark.end))
    }
  }

  const polling = poll(pool, followed)
  return {
    read,
    committed({ lane, records }, first) {
      const { watermark, readers } = followedLane(lane)
      const positioned = records.map((record, nth) => ({ ...record, offset: first + BigInt(nth) }))
      if (readers.size > 0) cache.add(lane, first, positioned)
      watermark.raise(first + BigInt(records.length))
    },
    async ended() {
      await polling.stop()
      await Promise.allSettled(underWay)
    },
  }
}

/** The offset of the slowest reader, or the end without readers. */
const lowest = (readers: ReadonlySet<Reader>, end: bigint): bigint =>
  [...readers].reduce((low, { next }) => (next < low ? next : low), end)

async function raiseToEnd(
  pool: Pool,
  lane: number,
  watermark: Watermark,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted)
    try {
      const { rows } = await pool.query({
        name: 'log_end',
        text: 'select next_offset from log.lane where lane = $1',
        values: [lane],
        types: asBigints,
      })
      return watermark.raise(rows[0]?.next_offset ?? 0n)
    } catch (error) {
      if (!isOutage(error) && !isBusy(error)) throw error
      await pause(retryMs, signal)
    }
}

/**
 * Fetches committed records; returns none after an outage, for trimmed offsets, and while the first is not found:
 * PostgreSQL makes a transaction visible just before it announces the leaf that the transaction added, and a
 * connection that looked in between may keep its old view, so the next fetch uses another one. Throws for a lost
 * record.
 */
async function fetchOrPause(pool: Pool, id: LaneId, reader: Reader): Promise<Fetched> {
  const { next: from, maxBytes, signal } = reader
  try {
    const records = untilGap(await fetchRecordsOf(pool, id.lane, from, maxBytes), from)
    const start = records.length > 0 ? from : await firstOffsetOf(pool, id.lane)
    if (records.length > 0 || start > from) {
      reader.missingSince = null
      return { records, next: start + BigInt(records.length) }
    }
  } catch (error) {
    if (!isOutage(error) && !isBusy(error)) throw error
    await pause(retryMs, signal)
    return { records: [], next: from }
  }
  reader.missingSince ??= performance.now()
  if (performance.now() - reader.missingSince > lostAfterMs)
    throw new LogUnreadable(id.topic, id.partition, from, new Error('its record is missing'))
  await pause(missingMs, signal)
  return { records: [], next: from }
}

/** The records from `from` on, up to the first missing one. */
function untilGap(records: ReadRecord[], from: bigint): ReadRecord[] {
  const gap = records.findIndex(({ offset }, nth) => offset !== from + BigInt(nth))
  return gap === -1 ? records : records.slice(0, gap)
}

async function firstOffsetOf(pool: Pool, lane: number): Promise<bigint> {
  const { rows } = await pool.query({
    name: 'log_start',
    text: 'select first_offset from log.lane where lane = $1',
    values: [lane],
    types: asBigints,
  })
  return rows[0]?.first_offset ?? 0n
}

/** Closes the connection if it did not find the first record. */
async function fetchRecordsOf(
  pool: Pool,
  lane: number,
  from: bigint,
  maxBytes: number,
): Promise<ReadRecord[]> {
  const client = await pool.connect()
  let isStale = true
  try {
    // Unnamed, so that it is planned with the actual offset and opens only the necessary leaves.
    // `before` ends the batch at the first record past `maxBytes` without fetching the values after it.
    const { rows } = await client.query({
      text: `select "offset", key, headers, value
         from (select "offset", key, headers, value,
                      sum(octet_length(value)) over (order by "offset") - octet_length(value) as before
                 from log.record where lane = $1 and "offset" >= $2
                order by "offset" limit ${fetchRecords}) as ahead
        where before = 0 or before + octet_length(value) <= $3
        order by "offset"`,
      values: [lane, from, maxBytes],
      types: asBigints,
    })
    isStale = rows[0]?.offset !== from
    return recordsOf(rows)
  } finally {
    client.release(isStale)
  }
}

const recordsOf = (rows: QueryResult['rows']): ReadRecord[] =>
  rows.map(({ offset, key, headers, value }) => ({
    offset,
    key,
    ...(headers ? { headers } : {}),
    value,
  }))

/** Raises the watermarks from the table, as long as there are readers. */
function poll(pool: Pool, followed: ReadonlyMap<number, Followed>): Repeated {
  const pace = createPollPace(pollMs.first, pollMs.idle)
  const look = async () => {
    const isAwaited = [...followed.values()].some(({ watermark }) => watermark.isAwaited)
    if (!isAwaited) return pollMs.first
    const { rows } = await pool.query({
      name: 'log_poll',
      text: 'select lane, next_offset from log.lane',
      types: asBigints,
    })
    for (const { lane, next_offset: end } of rows) {
      const watermark = followed.get(lane)?.watermark
      if (!watermark || end <= watermark.end) continue
      pace.found()
      watermark.raise(end)
    }
    return pace.nextMs()
  }
  // The next append or fetch will report the failure.
  return repeat(look, { failed: () => {}, retryMs: { first: retryMs, most: retryMs } })
}
