import type { PoolClient } from 'pg'
import { int4Array } from '../../platform/postgres/arrays.ts'
import { type Series, type Summary, slice, summarize } from '../../platform/series/chunk.ts'
import { isAscending } from '../../platform/series/grouping.ts'
import { resolve } from '../../platform/series/merge.ts'
import type { NumberedBlock } from '../../platform/series/numbered-block.ts'
import { intsOf, valueColumns } from './summary-columns.ts'

/** How many keys of a run lists show, first by name, in addition to the keys that the run or the list names. */
const listedKeys = 50

/** The summaries of a flush, one for each key of each run. */
export type FlushSummaries = { runNos: number[]; keyNos: number[]; summaries: Summary[] }

export const noSummaries = (): FlushSummaries => ({ runNos: [], keyNos: [], summaries: [] })

export function addSummaries(
  to: FlushSummaries,
  runNo: number,
  { keys, counts, points }: NumberedBlock,
): void {
  let from = 0
  for (const [k, keyNo] of keys.entries()) {
    const count = counts[k] ?? 0
    to.runNos.push(runNo)
    to.keyNos.push(keyNo)
    to.summaries.push(summarizeStretch(slice(points, from, from + count)))
    from += count
  }
}

const summarizeStretch = (stretch: Series): Summary =>
  summarize(isAscending(stretch.steps, 0, stretch.steps.length) ? stretch : resolve([stretch]))

const columns = `unnest($1::int4[], $2::int4[], $3::int8[], $4::int8[], $5::int8[], $6::int8[], $7::int8[],
                        $8::float8[], $9::float8[], $10::float8[], $11::float8[])
                 f (run_no, key_no, first_step, last_step, last_ts, count, nonfinite, min, max, sum, last)`

/**
 * Adds a flush to the stored summaries. Exact if all its steps are beyond the last one; an earlier point may replace
 * a counted one, which only the compactor can detect, so the row is marked inexact until then.
 */
export async function saveSummaries(
  tx: PoolClient,
  { runNos, keyNos, summaries }: FlushSummaries,
): Promise<void> {
  const ints = intsOf(summaries)
  const values = [
    int4Array(runNos),
    int4Array(keyNos),
    ints(s => s.first_step),
    ints(s => s.last_step),
    ints(s => s.last_ts),
    ...valueColumns(summaries),
  ]
  const updated = await updateSummaries(tx, values)
  // Update first, then insert the few new rows: half the cost of `on conflict do update`.
  if (updated < runNos.length) await insertSummaries(tx, values)
}

async function updateSummaries(tx: PoolClient, values: Buffer[]): Promise<number> {
  const { rows } = await tx.query<{ updated: number }>({
    name: 'update_metric_latest',
    text: `with updated as (
             update metric_latest l set
               first_step = least(l.first_step, f.first_step),
               last_step = greatest(l.last_step, f.last_step),
               last_ts = case when f.last_step >= l.last_step then f.last_ts else l.last_ts end,
               last = case when f.last_step >= l.last_step then f.last else l.last end,
               count = l.count + f.count,
               nonfinite = l.nonfinite + f.nonfinite,
               min = least(l.min, nullif(f.min, 'NaN')),
               max = greatest(l.max, nullif(f.max, 'NaN')),
               sum = add_saturated(l.sum, f.sum),
               exact = l.exact and f.first_step > l.last_step
             from ${columns}
             where (l.run_no, l.key_no) = (f.run_no, f.key_no)
             returning l.run_no, l.exact),
           marked as (
             update metric_run r set inexact = true
               from (select distinct run_no from updated where not exact) u
              where r.run_no = u.run_no and not r.inexact)
           select count(*) as updated from updated`,
    values,
  })
  return rows[0]?.updated ?? 0
}

/** Inserts the rows of new keys, and counts and lists these keys. */
async function insertSummaries(tx: PoolClient, values: Buffer[]): Promise<void> {
  await tx.query({
    name: 'insert_metric_latest',
    text: `with inserted as (
             insert into metric_latest (run_no, key_no, first_step, last_step, last_ts, count, nonfinite,
                                        min, max, sum, last, exact)
             select run_no, key_no, first_step, last_step, last_ts, count, nonfinite,
                    nullif(min, 'NaN'), nullif(max, 'NaN'), sum, last, true
               from ${columns}
             on conflict do nothing
             returning run_no, key_no),
           added as (
             select i.run_no, count(*) as keys, array_agg(i.key_no) as key_nos from inserted i group by i.run_no)
           insert into metric_keys as k (run_no, keys, listed)
           select a.run_no, coalesce(before.keys, 0) + a.keys,
                  array(select n.key_no from metric_name n where n.key_no = any(before.listed || a.key_nos)
                         order by n.key collate "C" limit ${listedKeys})
             from added a left join metric_keys before using (run_no)
           on conflict (run_no) do update set keys = excluded.keys, listed = excluded.listed`,
    values,
  })
}

/**
 * Counts and lists the keys stored by a projector older than `metric_keys`. Runs to which it added no keys are only
 * counted, which is the cheap part.
 */
export async function fillInKeys(tx: PoolClient): Promise<void> {
  await tx.query(
    `with counted as (select run_no, count(*) as keys from metric_summary group by run_no),
          short as (select run_no from counted left join metric_keys k using (run_no)
                     where k.keys is distinct from counted.keys)
     insert into metric_keys as k (run_no, keys, listed)
     select s.run_no, count(*), (array_agg(s.key_no order by n.key collate "C"))[1:${listedKeys}]
       from short join metric_summary s using (run_no) join metric_name n using (key_no) group by s.run_no
     on conflict (run_no) do update set keys = excluded.keys, listed = excluded.listed`,
  )
}
