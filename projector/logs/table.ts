import type { ColumnType } from 'kysely'

export type LogTables = {
  log_runs: {
    run_id: string
    /** What the next line is numbered; the first is 1. */
    next_seq: number
    /** Of all lines kept, as UTF-8 with a line break each. */
    bytes: number
    /** Whether anything was ever cut off for printing too much within an hour. */
    truncated: boolean
    /** The state in which the run ended, once nothing more is expected. */
    eof_state: string | null
    eof_at: ColumnType<Date, string, string> | null
    /** When the server received the last record, epoch milliseconds. */
    last_ms: number
  }
  /** Lines as `platform/lines` packs them; a row goes up to the one that begins after it. */
  log_chunks: {
    run_id: string
    first_seq: number
    body: Buffer
  }
}
