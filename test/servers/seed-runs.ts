import type { Client } from 'pg'

export const seededRuns = 100_000
/** The reports of a tenth of the runs. */
export const seededKeys = ['val/accuracy', 'val/loss', 'train/loss', 'lr']
/** A person who may read a quarter of them. */
export const seededMember = 'lister'

/** Few enough to be inserted quickly: no other database of a server publishes past an open transaction. */
const atOnce = 2_000

/** 100,000 ended runs in 20 projects, with hyperparameters; a tenth of them with metrics. */
export async function seedRuns(client: Pick<Client, 'query'>): Promise<void> {
  for (const statement of named) await client.query(statement)
  for (let first = 1; first <= seededRuns; first += atOnce)
    for (const statement of ofRuns) await client.query(statement, [first, first + atOnce - 1])
  for (const table of filled) await client.query(`vacuum analyze read.${table}`)
}

const filled = [
  'run_hparam_values',
  'runs',
  'metric_run',
  'metric_settled',
  'metric_name',
  'projects',
]

const named = [
  `insert into read.projects (name, owner, visibility, created_at)
   select 'list-' || n, 'admin', 'private', timestamptz '2026-01-01' from generate_series(0, 19) n`,
  `insert into read.project_members (project, username, role, since)
   select 'list-' || n, '${seededMember}', 'member', timestamptz '2026-01-01' from unnest(array[3, 5, 7, 8, 9]) n`,
  `insert into read.metric_name (key_no, key)
   select coalesce((select max(key_no) from read.metric_name), 0) + place, key
   from unnest(array['${seededKeys.join("','")}']) with ordinality as named (key, place)
   where key not in (select key from read.metric_name)`,
]

const idOf = (n: string) => `'run_' || lpad(${n}::text, 26, '0')`

/**
 * The rows that projections write for ended runs, from the first to the last number; sending them through the API would take
 * minutes and give the same rows.
 */
const ofRuns = [
  `insert into read.runs (run_id, short_id, name, project, owner, source, state, created_at, started_at,
     ended_at, tags, notes, starred, archived, init_from, datasets, search)
   select ${idOf('n')}, 'list-' || n % 20 || '-' || n, 'seeded ' || n, 'list-' || n % 20,
     case when n % 3 = 0 then 'admin' else 'person-' || n % 50 end, 'external',
     case when n % 10 < 6 then 'succeeded' when n % 10 < 8 then 'failed' when n % 10 < 9 then 'stopped'
       else 'running' end,
     timestamptz '2026-01-01' + n * interval '1 minute', timestamptz '2026-01-01' + n * interval '1 minute',
     case when n % 10 < 9 then timestamptz '2026-01-01' + (n + 30) * interval '1 minute' end,
     array['tag-' || n % 37], '', n % 100 = 0, n % 20 = 19, '{}', '{}', 'seeded ' || n
   from generate_series($1::int, $2::int) n`,
  `insert into read.metric_run (records, points, waiting_points, last_received_ms, compacted_ms, run_no,
     waiting_blocks, live, inexact, run_id)
   select 10, 400, 0, 1790000000000, 1790000000000,
     (select coalesce(max(run_no), 0) from read.metric_run) + n - $1 + 1, 0, false, false, ${idOf('n')}
   from generate_series($1::int, $2::int) n`,
  `insert into read.metric_settled (first_step, last_step, last_ts, count, nonfinite, min, max, sum, last,
     run_no, key_no, exact)
   select 1, 100, 1790000000000, 100, 0, value, value + 1, value * 100, value + 0.5, run_no, key_no, true
   from (select run_no, key_no, random() as value
           from read.metric_run join generate_series($1::int, $2::int) n on run_id = ${idOf('n')}
           cross join read.metric_name
           where key = any(array['${seededKeys.join("','")}']) and run_id like 'run_0000%') drawn`,
  `insert into read.run_hparam_values (run_id, key, text, number)
   select ${idOf('n')}, key, coalesce(number::text, text), number
   from generate_series($1::int, $2::int) n,
   lateral (values ('lr', n % 1000 * 1e-4, null), ('opt', null, case n % 4 when 0 then 'sgd' else 'adam' end),
                   ('seed', n, null), ('depth', n % 32, null), ('data', null, 'set-' || n % 12)) p (key, number, text)`,
]
