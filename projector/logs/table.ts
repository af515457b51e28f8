import type { ColumnType } from 'kysely'

export type LogTables = {
  log_runs: {
    run_id: string
    /** Number of the next line; the first is 1. */
    next_seq: number
    /** Total of all stored lines, as UTF-8 with line breaks. */
    bytes: number
    /** Whether the hourly limit ever dropped lines. */
    truncated: boolean
    /** The final state of the run, once its log is complete. */
    eof_state: string | null
    eof_at: ColumnType<Date, string, string> | null
    /** Where the run's metrics end on their topic, according to its eof; null if that was not recorded. */
    points_partition: number | null
    points_offset: number | null
    /** Time of receipt of the last report, epoch milliseconds; the server's own end mark does not count. */
    last_ms: number
  }
  /** Lines packed by `platform/lines`; a row ends where the next one starts. */
  log_chunks: {
    run_id: string
    first_seq: number
    body: Buffer
  }
}
