/** Summary of one key of one run: a row of `metric_latest`, `metric_settled` and the view over both. */
export type MetricSummary = {
  run_no: number
  key_no: number
  first_step: number
  last_step: number
  /** Time of the point at `last_step`, epoch milliseconds. */
  last_ts: number
  /** Distinct steps; may be too high while `exact` is false. */
  count: number
  /** Number of values that are NaN or infinite. */
  nonfinite: number
  /** Over finite values; null if there are none. */
  min: number | null
  max: number | null
  sum: number
  /** The value at `last_step`, finite or not. */
  last: number
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
    /** Where the run begins on the log; 0 where that was not noted. */
    first_offset: number
  }
  metric_block: {
    run_no: number
    first_record: number
    records: number
    points: number
    d: Buffer
  }
  metric_chunk: {
    run_no: number
    key_no: number
    first_step: number
    last_step: number
    first_ts: number
    max_ts: number
    last_ts: number
    first_arrival: number
    last_arrival: number
    count: number
    nonfinite: number
    min: number | null
    max: number | null
    sum: number
    last: number
    d: Buffer
  }
  metric_latest: MetricSummary
  metric_settled: MetricSummary
  /** Both joined with their runs, limited to those that the session may read. */
  latest_of_runs: SummaryOfRun
  settled_of_runs: SummaryOfRun
  metric_summary: MetricSummary
}
