import type { Pool } from 'pg'
import { remembered } from '../../platform/remembered.ts'
import type { Transaction } from '../commit/event-store.ts'
import { lineOf, type PastRuns } from './admission/facts.ts'

const countedRuns = 10
/** How long an estimate is cached, in milliseconds: it is not worth a query for each submit. */
const remembering = { ttlMs: 10_000, staleMs: 60_000 }

export type ReadPastRuns = (recipe: Parameters<typeof lineOf>[0]) => Promise<PastRuns | null>

/** Null if no run of the recipe has succeeded yet. */
export function pastRuns(pool: Pool): ReadPastRuns {
  const find = remembered<PastRuns>(remembering, lines => readPastRuns(pool, lines))
  return recipe => find(lineOf(recipe))
}

async function readPastRuns(pool: Pool, lines: string[]): Promise<Map<string, PastRuns>> {
  const { rows } = await pool.query<PastRuns & { line: string }>({
    name: 'past_runs',
    text: `select asked.line, count(*)::int as runs,
                  percentile_cont(0.5) within group (order by newest.gpu_ms) / 3600000 as gpu_hours
             from unnest($1::text[]) as asked (line), lateral (
               select gpu_ms from write.past_run p
                where p.recipe = split_part(asked.line, '@', 1) and p.line = split_part(asked.line, '@', 2)
                order by ended_at desc limit ${countedRuns}) newest
            group by asked.line`,
    values: [lines],
  })
  return new Map(rows.map(({ line, ...past }) => [line, past]))
}

/** Records the usage of a successful job whose last attempt has ended. Idempotent. */
export async function notePastRun(tx: Transaction, run_id: string, now: Date): Promise<void> {
  await tx.query({
    name: 'note_past_run',
    text: `insert into write.past_run (run_id, recipe, line, gpu_ms, ended_at)
           select $1, admitted.data #>> '{recipe,name}',
                  substring(admitted.data #>> '{recipe,version}' from '^[0-9]+[.][0-9]+'), used.gpu_ms, $2
             from write.event admitted, (
               select sum(gpus * round(extract(epoch from ended_at - started_at) * 1000))::bigint as gpu_ms
                 from write.gpu_use where run_id = $1) used
            where admitted.stream = 'job-' || $1 and admitted.stream_version = 1 and used.gpu_ms is not null
           on conflict do nothing`,
    values: [run_id, now],
  })
}
