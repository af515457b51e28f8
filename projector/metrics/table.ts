import type { Summary } from '../../platform/series/chunk.ts'

type OnlyOfChunks = 'first_ts' | 'max_ts' | 'first_arrival' | 'last_arrival'

/**
 * Summary of one key of one run: a row of `metric_latest`, `metric_settled` and the view over both. `count` may be
 * too high while `exact` is false.
 */
export type MetricSummary = Omit<Summary, OnlyOfChunks> & {
  run_no: number
  key_no: number
  exact: boolean
}

type SummaryOfRun = MetricSummary & { run_id: string }

export type MetricTables = {
  metric_name: { key_no: number; key: string }
  metric_run: {
    run_id: string
    run_no: number
    /** Number of applied log records; also the arrival number of the next one. */
    records: number
    /** Number of applied points, including repeats. */
    points: number
    waiting_points: number
    waiting_blocks: number
    last_received_ms: number
    compacted_ms: number
    live: boolean
    inexact: boolean
    /** Offset of the first record of the run; 0 if it was not recorded. */
    first_offset: number
  }
  /** `listed`: the first 50 by name. */
  metric_keys: { run_no: number; keys: number; listed: number[] }
  metric_block: {
    run_no: number
    first_record: number
    records: number
    points: number
    d: Buffer
  }
  metric_chunk: Summary & {
    run_no: number
    key_no: number
    d: Buffer
    cells: Buffer | null
    cell_extremes: Buffer | null
  }
  metric_latest: MetricSummary
  metric_settled: MetricSummary
  /** Both joined with their runs, limited to the runs that the session may read. */
  latest_of_runs: SummaryOfRun
  settled_of_runs: SummaryOfRun
  /** Both in one, for searches. */
  searched_summaries: SummaryOfRun
  metric_summary: MetricSummary
}
