import { nothing } from '../effects/outcome.ts'
import { type Reactor, reactor } from '../effects/reactor.ts'

/** Drops records that no reader needs any longer; false if another process is trimming or rebuilding. */
export type TrimLog = () => Promise<boolean>

const hourSeconds = 3600

/**
 * Trims the log once an hour. Runs in processes with a Postgres log and the projector, which knows how far everything has been
 * read. Skipped while a rebuild reads the log; the next hour makes up for it.
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
