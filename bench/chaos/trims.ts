import { setTimeout as pause } from 'node:timers/promises'
import { Kafka, logLevel } from 'kafkajs'
import type { Pool } from 'pg'
import { pino } from 'pino'
import { newFollowers } from '../../command-api/compose.ts'
import { offsetsNeeded } from '../../command-api/followers/offsets-needed.ts'
import { topicsOf } from '../../events/topics.ts'
import { openPostgresLog } from '../../platform/log/postgres.ts'
import type { TrimOptions } from '../../platform/log/postgres-trim.ts'
import { createPool } from '../../platform/postgres/pool.ts'
import { projections } from '../../projector/compose.ts'
import { projectionsRead, trimLog } from '../../projector/trim-log.ts'
import { databaseUrl } from '../rig/database.ts'

/** Small enough for many of them to fill up: only whole ones are dropped. */
const leafRecords = 200
const restMs = 5_000

/** Everything that all consumers have read may go, whatever its age. */
const topics = topicsOf('forge', { days: 0, maxBytes: null })

export type Trims = { done: number; records: number }

/** Makes the log consist of small leaves; before the first report. */
export const cutLeavesSmall = (dataDir: string): Promise<void> =>
  withPool(dataDir, async pool => {
    await pool.query('update log.lane set leaf_records = $1 where topic <> $2', [
      leafRecords,
      topics.decisions.name,
    ])
  })

/** Drops what every consumer has read, by the program's own rule; returns how many records were dropped. */
export async function trimOnce(dataDir: string, brokers: string | null): Promise<number> {
  let records = 0
  await withPool(dataDir, async pool => {
    const log = brokers === null ? await openLog(dataDir) : kafkaLog(brokers)
    const logger = pino({ level: 'silent' })
    const following = newFollowers().map(({ name, topic }) => ({ name, topic: topics[topic].name }))
    try {
      await trimLog({
        pool,
        async trim(topic, options) {
          const gone = await log.trim(topic, options)
          records += gone
          return gone
        },
        topics: Object.values(topics),
        readers: [
          projectionsRead(pool, projections(topics)),
          offsetsNeeded({ pool, followers: following, logger }),
        ],
        logger,
        now: () => new Date(),
      })
    } finally {
      await log.close()
    }
  })
  return records
}

/** Trims occasionally until stopped; a kill may end any trim. */
export function trimOften(
  dataDir: string,
  brokers: string | null,
): { trims: Trims; stop(): Promise<void> } {
  const trims: Trims = { done: 0, records: 0 }
  const ending = new AbortController()
  const run = async () => {
    while (!ending.signal.aborted) {
      const records = await trimOnce(dataDir, brokers).catch(() => 0)
      if (records > 0) trims.done++
      trims.records += records
      await pause(restMs, null, { signal: ending.signal }).catch(() => {})
    }
  }
  const running = run()
  return {
    trims,
    async stop() {
      ending.abort()
      await running
    },
  }
}

async function withPool(dataDir: string, work: (pool: Pool) => Promise<void>): Promise<void> {
  const pool = createPool(await databaseUrl(dataDir), { max: 3, applicationName: 'forge chaos' })
  try {
    await work(pool)
  } finally {
    await pool.end()
  }
}

const openLog = async (dataDir: string) =>
  openPostgresLog({ url: await databaseUrl(dataDir), topics: Object.values(topics) })

/** A broker trims automatically, by age; here the records before an offset are deleted. */
function kafkaLog(brokers: string) {
  const kafka = new Kafka({ brokers: [brokers], logLevel: logLevel.NOTHING, retry: { retries: 1 } })
  const admin = kafka.admin()
  return {
    async trim(topic: string, { keepFrom }: TrimOptions): Promise<number> {
      await admin.connect()
      const before = await admin.fetchTopicOffsets(topic)
      const partitions = before.flatMap(({ partition, low }) => {
        const keep = keepFrom[partition] ?? 0n
        return keep > BigInt(low) ? [{ partition, offset: String(keep) }] : []
      })
      if (partitions.length > 0) await admin.deleteTopicRecords({ topic, partitions })
      return partitions.reduce((sum, { partition, offset }) => {
        const low = before.find(one => one.partition === partition)?.low ?? offset
        return sum + Number(BigInt(offset) - BigInt(low))
      }, 0)
    },
    close: () => admin.disconnect(),
  }
}
