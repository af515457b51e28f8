import { nothing } from '../outcome.ts'
import { type Reactor, reactor } from '../reactor.ts'

/** Drops from the log what nobody needs any more; false where another process is at it. */
export type TrimLog = () => Promise<boolean>

const hourSeconds = 3600

/**
 * Trims the log once an hour. Performed where the log is in Postgres and the projector is, which knows what has been
 * read. Passed over while a rebuild reads the log; the next hour makes up for it.
 */
export const logTrimmer: Reactor<TrimLog> = reactor<object, TrimLog>({
  name: 'log-trim',
  repeat: 'ask first',
  every: { seconds: hourSeconds, payload: () => ({}) },
  deadlineMs: 600_000,
  backoffMs: 60_000,
  atOnce: 1,
  async perform(_, trimLog) {
    await trimLog()
    return nothing
  },
})
