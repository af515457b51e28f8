import type { Pool } from 'pg'
import { decodeLines } from '../../platform/lines/line-block.ts'
import { decodeChunk } from '../../platform/series/chunk.ts'
import { resolve } from '../../platform/series/merge.ts'
import { pointsByKey } from '../../projector/metrics/chunks.ts'

type Rows = Record<string, unknown>[]
export type Content = Record<
  'runs' | 'summaries' | 'series' | 'logs' | 'lines' | 'validation' | 'rest',
  Rows
>

/**
 * The content of the fact tables of the search path, independent of batches: series and lines instead of blocks and
 * chunks, names instead of key numbers, and no row numbers of a generation.
 */
export async function contentOf(pool: Pool): Promise<Content> {
  const rows = async (sql: string): Promise<Rows> => (await pool.query(sql)).rows
  return {
    runs: await rows(
      'select run_id, records, points, last_received_ms, live, inexact, first_offset from metric_run order by run_id',
    ),
    summaries: await rows(
      `select run_id, key, first_step, last_step, last_ts, count, nonfinite, min, max, sum, last, exact
         from metric_summary join metric_run using (run_no) join metric_name using (key_no) order by run_id, key`,
    ),
    series: await allSeries(pool),
    logs: await rows(
      `select run_id, next_seq, bytes, truncated, eof_state, eof_at, hour, hour_bytes, last_ms, first_offset
         from log_runs order by run_id`,
    ),
    lines: await allLines(pool),
    validation: [
      ...(await rows('select * from validation_runs order by run_id')),
      ...(await rows('select * from validation_chunks order by run_id, step, chunk_index')),
      ...(await rows('select * from validation_samples order by run_id, log_offset, index')),
    ],
    rest: [
      ...(await rows('select * from log_sources order by run_id, source')),
      ...(await rows('select * from hardware_runs order by run_id')),
      ...(await rows('select * from hardware_sources order by run_id, source')),
      ...(await rows('select * from hardware_points order by run_id, source, ts')),
      ...(await rows('select * from traffic_deployments order by run_id')),
      ...(await rows('select * from traffic order by deployment_id, request_id')),
      ...(await rows('select * from traffic_daily order by deployment_id, day, token_id')),
      ...(await rows('select * from dead_letter order by topic, partition, "offset"')),
    ],
  }
}

async function allSeries(pool: Pool): Promise<Rows> {
  const { rows: names } = await pool.query('select key_no, key from metric_name')
  const keyOf = new Map(names.map(({ key_no, key }) => [key_no, key]))
  const { rows: runs } = await pool.query('select run_id, run_no from metric_run order by run_id')
  const found: Rows = []
  for (const { run_id, run_no } of runs) {
    const { rows: chunks } = await pool.query(
      'select key_no, d from metric_chunk where run_no = $1 order by key_no, first_step',
      [run_no],
    )
    const { rows: blocks } = await pool.query(
      'select d from metric_block where run_no = $1 order by first_record',
      [run_no],
    )
    const waiting = pointsByKey(blocks.map(({ d }) => d))
    const keyNos = new Set([...chunks.map(({ key_no }) => key_no), ...waiting.keys()])
    for (const keyNo of keyNos) {
      const stored = chunks.filter(({ key_no }) => key_no === keyNo).map(({ d }) => decodeChunk(d))
      const { steps, ts, values } = resolve([...stored, ...[waiting.get(keyNo) ?? []].flat()])
      const points = { steps: [...steps], ts: [...ts], values: [...values] }
      found.push({ run_id, key: keyOf.get(keyNo), ...points })
    }
  }
  return found.sort((a, b) => (`${a.run_id}/${a.key}` < `${b.run_id}/${b.key}` ? -1 : 1))
}

async function allLines(pool: Pool): Promise<Rows> {
  const { rows } = await pool.query(
    'select run_id, first_seq, body from log_chunks order by run_id, first_seq',
  )
  return rows.flatMap(({ run_id, first_seq, body }) =>
    decodeLines(body)
      .flatMap(({ lines, ...labels }) => lines.map(line => ({ ...labels, line })))
      .map((line, nth) => ({ run_id, seq: first_seq + nth, ...line })),
  )
}
