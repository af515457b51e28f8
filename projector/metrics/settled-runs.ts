import type { PoolClient } from 'pg'
import { summarize } from '../../platform/series/chunk.ts'
import { pointsByKey } from './chunks.ts'
import { saveSummaries } from './summaries.ts'

/**
 * Recomputes the summaries of a run that repeated steps made inexact, from its chunks and waiting blocks. The caller
 * holds the lock of the run's row. A key whose waiting points may replace stored ones stays inexact until the next
 * time.
 */
export async function correctSummaries(tx: PoolClient, runNo: number): Promise<void> {
  const { rows } = await tx.query<{ key_no: number }>({
    name: 'correct_metric_latest',
    text: `with c as (
             select key_no, min(first_step) as first_step, max(last_step) as last_step, sum(count) as count,
                    sum(nonfinite) as nonfinite, min(min) as min, max(max) as max, sum_saturated(sum) as sum,
                    (array_agg(last order by last_step desc))[1] as last,
                    (array_agg(last_ts order by last_step desc))[1] as last_ts
               from metric_chunk
              where run_no = $1
                and key_no in (select key_no from metric_latest where run_no = $1 and not exact)
              group by key_no)
           update metric_latest l set
             first_step = c.first_step, last_step = c.last_step, count = c.count, nonfinite = c.nonfinite,
             min = c.min, max = c.max, sum = c.sum, last = c.last, last_ts = c.last_ts, exact = true
             from c where l.run_no = $1 and l.key_no = c.key_no
           returning l.key_no`,
    values: [runNo],
  })
  await tx.query({
    name: 'recall_inexact',
    text: `update metric_run set inexact = exists
             (select from metric_latest where run_no = $1 and not exact) where run_no = $1`,
    values: [runNo],
  })
  await addWaiting(tx, runNo, new Set(rows.map(row => row.key_no)))
}

/** Adds the waiting points, which the recomputed summaries lack. */
async function addWaiting(
  tx: PoolClient,
  runNo: number,
  corrected: ReadonlySet<number>,
): Promise<void> {
  const { rows } = await tx.query<{ d: Buffer }>({
    name: 'waiting_metric_blocks',
    text: 'select d from metric_block where run_no = $1 order by first_record',
    values: [runNo],
  })
  const waiting = [...pointsByKey(rows.map(row => row.d))].filter(([keyNo]) => corrected.has(keyNo))
  if (waiting.length === 0) return
  await saveSummaries(tx, {
    runNos: waiting.map(() => runNo),
    keyNos: waiting.map(([keyNo]) => keyNo),
    summaries: waiting.map(([, points]) => summarize(points)),
  })
}

/** Moves the summaries of a silent run to the table that lists sort by. The caller holds the row lock. */
export async function moveToSettled(tx: PoolClient, runNo: number): Promise<void> {
  await tx.query({
    name: 'settle_metric_run',
    text: `with moved as (delete from metric_latest where run_no = $1 returning *),
                there as (insert into metric_settled select * from moved)
           update metric_run set live = false where run_no = $1`,
    values: [runNo],
  })
}
