import { DatabaseError, type Pool } from 'pg'
import { pause } from '../pause.ts'
import { int4Array, textArray } from '../postgres/arrays.ts'
import { asBigints, createPool, isBusy, isOutage } from '../postgres/pool.ts'
import { inBatches } from '../remembered.ts'
import { type EventLog, LogUnavailable } from './event-log.ts'
import { createGroupCommit, type Group, type LaneId } from './group-commit.ts'
import { createReading } from './postgres-read.ts'
import { type TrimOptions, trimLanes } from './postgres-trim.ts'
import type { Topic } from './topic.ts'

export type PostgresLogOptions = {
  /** A database with a migrated schema `log`. */
  url: string
  topics: readonly Topic[]
  /** Bytes of values kept for readers in this process, which saves fetches. */
  cacheBytes?: number
  /** For how long an append whose leaf is not found is repeated, in milliseconds. Default: 2 s. */
  unseenMs?: number
}

export type PostgresLog = EventLog & {
  /** Drops old records of a topic and returns their number. Frees space at once, one range of offsets at a time. */
  trim(topic: string, options: TrimOptions): Promise<number>
}

/** One connection for appends; the others for readers. */
const connections = 4
/** Applies to connecting and to each reply, so that an append fails within 10 s. */
const answerWithinMs = 4_500
/** The server must time out first: a refused append must not be stored later. */
const statementTimeoutMs = 4_000
/** Larger transactions are not faster and hold the lanes' locks longer. */
const flushLimits = { totalBytes: 8 * 1024 * 1024, laneBytes: 8 * 1024 * 1024 }
const defaultCacheBytes = 32 * 1024 * 1024
const defaultUnseenMs = 2_000
/** How soon an append whose leaf is not found is repeated, in milliseconds. */
const againMs = 10
/** Records per leaf; decisions are never trimmed. */
const leafRecords = { trimmed: 32_768, kept: 1_048_576 }

/** Opens the log in Postgres and creates missing topics. */
export async function openPostgresLog(options: PostgresLogOptions): Promise<PostgresLog> {
  const pool = createPool(options.url, {
    max: connections,
    applicationName: 'forge log',
    answerWithinMs,
    statementTimeoutMs,
    lockTimeoutMs: statementTimeoutMs,
  })
  const lanes = await openLanes(pool, options.topics).catch(async error => {
    await pool.end()
    throw error
  })
  const lanesOf = (topic: string): LaneId[] => {
    const found = lanes.get(topic)
    if (!found) throw new Error(`there is no topic ${topic}`)
    return found
  }
  const closing = new AbortController()
  const { cacheBytes = defaultCacheBytes, unseenMs = defaultUnseenMs } = options
  const reading = createReading(pool, [...lanes.values()].flat(), cacheBytes, closing.signal)
  const commits = createGroupCommit({
    lanesOf,
    store: groups => insert(pool, groups, { unseenMs, signal: closing.signal }),
    committed: reading.committed,
    limits: flushLimits,
  })

  const endOf = inBatches((asked: string[]) => readEnds(pool, asked))

  return {
    async append(topic, records) {
      if (closing.signal.aborted) throw new LogUnavailable('the event log is closed')
      return await commits.append(topic, records)
    },
    read(topic, partition, from, readOptions) {
      const lane = lanesOf(topic)[partition]
      if (!lane) throw new Error(`${topic} has no partition ${partition}`)
      return reading.read(lane, from, readOptions)
    },
    async end(topic) {
      const found = await Promise.all(lanesOf(topic).map(({ lane }) => endOf(String(lane))))
      return found.map(end => end ?? 0n)
    },
    start: topic => readStarts(pool, lanesOf(topic)),
    trim: (topic, trimOptions) => trimLanes(pool, lanesOf(topic), trimOptions),
    async close() {
      if (closing.signal.aborted) return
      closing.abort()
      await commits.drained()
      await reading.ended()
      await pool.end()
    },
  }
}

async function openLanes(pool: Pool, topics: readonly Topic[]): Promise<Map<string, LaneId[]>> {
  const lanes = new Map<string, LaneId[]>()
  for (const { name, partitions, retentionDays } of topics) {
    await pool.query(
      `insert into log.lane (topic, partition, leaf_records)
       select $1, partition, $3 from generate_series(0, $2 - 1) as partition
        where not exists (select 1 from log.lane where topic = $1)
       on conflict do nothing`,
      [name, partitions, retentionDays === null ? leafRecords.kept : leafRecords.trimmed],
    )
    const { rows } = await pool.query(
      'select lane, topic, partition from log.lane where topic = $1 order by partition',
      [name],
    )
    if (rows.length !== partitions)
      throw new Error(
        `Topic ${name} has ${rows.length} partitions in the database and ${partitions} in this program; the number cannot change, or the records of one key would lose their order.`,
      )
    lanes.set(name, rows)
  }
  return lanes
}

/**
 * Appends, and retries if the connection did not see an existing leaf: a connection's cached list of a table's ranges
 * may miss one that was attached while it was read, until the next is attached. A failed append stores nothing, and
 * the pool closes its connection.
 */
async function insert(
  pool: Pool,
  groups: readonly Group[],
  { unseenMs, signal }: { unseenMs: number; signal: AbortSignal },
) {
  const began = performance.now()
  while (true)
    try {
      return await answering(() => insertOnce(pool, groups))
    } catch (error) {
      if (!isUnseenLeaf(error)) throw error
      if (signal.aborted || performance.now() - began > unseenMs)
        throw new LogUnavailable('the event log in PostgreSQL lacks a range', { cause: error })
      await pause(againMs, signal)
    }
}

/** "No partition of relation … found for row". */
const isUnseenLeaf = (error: unknown): boolean =>
  error instanceof DatabaseError && error.code === '23514' && error.table === 'record'

/** One round trip and one commit for all lanes. */
async function insertOnce(pool: Pool, groups: readonly Group[]): Promise<bigint[]> {
  const records = groups.flatMap((group, index) =>
    group.records.map((record, nth) => ({ ...record, place: index + 1, nth })),
  )
  let end = 1
  const starts = records.map(({ value }) => {
    end += value.length
    return end - value.length
  })
  const { rows } = await pool.query({
    name: 'log_append',
    types: asBigints,
    text: 'select log.append($1, $2, $3, $4, $5, $6, $7, $8, $9) as firsts',
    values: [
      int4Array(groups.map(group => group.lane)),
      int4Array(groups.map(group => group.records.length)),
      int4Array(records.map(({ place }) => place)),
      int4Array(records.map(({ nth }) => nth)),
      textArray(records.map(({ key }) => key)),
      records.map(({ headers }) => (headers ? JSON.stringify(headers) : null)),
      int4Array(starts),
      int4Array(records.map(({ value }) => value.length)),
      Buffer.concat(records.map(({ value }) => value)),
    ],
  })
  return rows[0].firsts
}

/** The ends of these lanes, by lane. */
function readEnds(pool: Pool, lanes: readonly string[]): Promise<Map<string, bigint>> {
  return answering(async () => {
    const { rows } = await pool.query({
      name: 'log_ends',
      text: 'select lane, next_offset from log.lane where lane = any($1)',
      values: [lanes],
      types: asBigints,
    })
    return new Map(rows.map(({ lane, next_offset }) => [String(lane), next_offset]))
  })
}

function readStarts(pool: Pool, lanes: readonly LaneId[]): Promise<bigint[]> {
  return answering(async () => {
    const { rows } = await pool.query({
      text: 'select first_offset from log.lane where lane = any($1) order by partition',
      values: [lanes.map(({ lane }) => lane)],
      types: asBigints,
    })
    return rows.map(row => row.first_offset)
  })
}

async function answering<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isOutage(error) && !isBusy(error)) throw error
    throw new LogUnavailable('the event log in PostgreSQL does not respond', { cause: error })
  }
}
