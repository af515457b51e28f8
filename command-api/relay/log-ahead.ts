import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { Recorded } from '../../events/event.ts'
import { CannotStart } from '../../platform/cannot-start.ts'
import { type EventLog, LogUnreadable } from '../../platform/log/event-log.ts'

export type LogAheadDeps = { pool: Pool; log: EventLog; topic: string; logger: Logger }

const readWithinMs = 10_000

/**
 * Refuses to start if the newest decision of the log is not in the database, which was then restored from a backup that is
 * older than the log: new decisions would take versions that the log knows already. Publishing follows the order of commits, so
 * checking the newest record is enough.
 */
export async function refuseLogAhead({ pool, log, topic, logger }: LogAheadDeps): Promise<void> {
  const newest = await readNewest(log, topic).catch(error => {
    if (!(error instanceof LogUnreadable)) throw error
    logger.warn({ err: error }, 'cannot tell whether the log is ahead of the database')
    return null
  })
  if (!newest) return
  const { rowCount } = await pool.query('select from write.event where event_id = $1', [
    newest.event_id,
  ])
  if (rowCount === 1) return
  throw new CannotStart(
    `The event log is ahead of the database: ${newest.type}, version ${newest.stream_version} of ${newest.stream}, decided at ${newest.occurred_at}, is the newest in ${topic} and is not in PostgreSQL, which was probably restored from an older backup. Restore a newer one; or, to give up what it lacks, follow "The database is older than the log" in docs/operate/backup.md.`,
  )
}

async function readNewest(log: EventLog, topic: string): Promise<Recorded | null> {
  const [[first = 0n], [end = 0n]] = await Promise.all([log.start(topic), log.end(topic)])
  if (end <= first) return null
  const signal = AbortSignal.timeout(readWithinMs)
  for await (const { records } of log.read(topic, 0, end - 1n, { maxBytes: 1, signal })) {
    const newest = records.at(-1)
    return newest ? JSON.parse(newest.value.toString('utf8')) : null
  }
  return null
}
