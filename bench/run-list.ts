import type { Client } from 'pg'
import { askApi, signIn } from '../test/servers/api.ts'
import type { Target } from './chart.ts'
import type { Spread } from './rig/quantile.ts'
import { timeEach } from './rig/repeat.ts'

export type RunListReport = {
  runs: number
  metricKeys: number
  /** Milliseconds per request, by query and caller: row-level security applies to members only. */
  queries: { query: string; by: 'admin' | 'member'; took: Spread }[]
}

const runs = 100_000
const keys = ['val/accuracy', 'val/loss', 'train/loss', 'lr']
const times = 60
/** From what nearly every run matches to what none does. */
const searches = [
  'seeded',
  'state:failed',
  'val/loss<0.7',
  'metric:val/loss:min<0.01',
  'val/loss<0.1',
  'hparams.lr>=1e-5',
  'hparams.opt:adam',
  'hparams.lr>=0.099',
  'state:failed val/loss<1.2 hparams.lr>=1e-5 tag:tag-5 after:2026-02-01',
  'tag:tag-5 OR tag:tag-6',
  'state:failed NOT val/loss<0.7',
  'metric:train/loss:max>1.999 state:running',
  'hparams.lr>7',
]
const member = 'lister'

/** Lists of 50 out of 100,000 runs, filtered and sorted. */
export async function measureRunList(
  { url, token }: Target,
  client: Client,
): Promise<RunListReport> {
  await seedRuns(client)
  const tokens = { admin: token, member: await signInMember(url, token) }
  const byMetric = (metric: string) => `sort=${encodeURIComponent(metric)}`
  const asked = [
    'sort=-created_at',
    byMetric('-metric:val/accuracy:last'),
    `project=list-7&${byMetric('-metric:val/accuracy:last')}`,
    `state=succeeded&${byMetric('metric:val/loss:min')}`,
    // Matches nothing, which statistics cannot tell: a fifth and a twentieth of the runs match one condition.
    `project=list-3&state=failed&${byMetric('-metric:val/accuracy:max')}`,
    `project=list-6&state=failed&${byMetric('-metric:val/accuracy:max')}`,
    `tag=tag-5&${byMetric('metric:train/loss:last')}`,
    `state=running&${byMetric('-metric:val/accuracy:last')}`,
    ...searches.map(search => `q=${encodeURIComponent(search)}`),
    `q=${encodeURIComponent('val/loss<0.7')}&${byMetric('-metric:val/accuracy:last')}`,
  ]
  const queries: RunListReport['queries'] = []
  for (const query of asked)
    for (const by of ['admin', 'member'] as const) {
      const token = tokens[by]
      const took = await timeEach(times, turn =>
        askApi(url, 'GET', `/api/runs?${query}&limit=50&offset=${(turn % 4) * 50}`, { token }),
      )
      queries.push({ query, by, took })
    }
  return { runs, metricKeys: keys.length, queries }
}

/** 100,000 ended runs in 20 projects, with hyperparameters; a tenth of them with metrics. */
export async function seedRuns(client: Pick<Client, 'query'>): Promise<void> {
  for (const statement of seed) await client.query(statement)
}

/** Signs in a person who may read a quarter of the runs, by the memberships of the seed. */
async function signInMember(url: string, token: string): Promise<string> {
  const body = { username: member, password: `${member} of the bench` }
  await askApi(url, 'POST', '/api/admin/users', { token, body: { ...body, role: 'operator' } })
  return signIn(url, body.username, body.password)
}

/**
 * The rows that projections write for ended runs; sending them through the API would take minutes and give the same
 * rows.
 */
const seed = [
  `insert into read.projects (name, owner, visibility, created_at)
   select 'list-' || n, 'admin', 'private', timestamptz '2026-01-01' from generate_series(0, 19) n`,
  `insert into read.project_members (project, username, role, since)
   select 'list-' || n, '${member}', 'member', timestamptz '2026-01-01' from unnest(array[3, 5, 7, 8, 9]) n`,
  `insert into read.runs (run_id, short_id, name, project, owner, source, state, created_at, started_at,
     ended_at, tags, notes, starred, archived, init_from, datasets, search)
   select 'run_' || lpad(n::text, 26, '0'), 'list-' || n % 20 || '-' || n, 'seeded ' || n, 'list-' || n % 20,
     case when n % 3 = 0 then 'admin' else 'person-' || n % 50 end, 'external',
     case when n % 10 < 6 then 'succeeded' when n % 10 < 8 then 'failed' when n % 10 < 9 then 'stopped'
       else 'running' end,
     timestamptz '2026-01-01' + n * interval '1 minute', timestamptz '2026-01-01' + n * interval '1 minute',
     case when n % 10 < 9 then timestamptz '2026-01-01' + (n + 30) * interval '1 minute' end,
     array['tag-' || n % 37], '', n % 100 = 0, n % 20 = 19, '{}', '{}', 'seeded ' || n
   from generate_series(1, ${runs}) n`,
  `insert into read.metric_name (key_no, key)
   select coalesce((select max(key_no) from read.metric_name), 0) + place, key
   from unnest(array['${keys.join("','")}']) with ordinality as named (key, place)
   where key not in (select key from read.metric_name)`,
  `insert into read.metric_run (records, points, waiting_points, last_received_ms, compacted_ms, run_no,
     waiting_blocks, live, inexact, run_id)
   select 10, 400, 0, 1790000000000, 1790000000000,
     (select coalesce(max(run_no), 0) from read.metric_run) + n, 0, false, false,
     'run_' || lpad(n::text, 26, '0')
   from generate_series(1, ${runs}) n`,
  `insert into read.metric_settled (first_step, last_step, last_ts, count, nonfinite, min, max, sum, last,
     run_no, key_no, exact)
   select 1, 100, 1790000000000, 100, 0, value, value + 1, value * 100, value + 0.5, run_no, key_no, true
   from (select run_no, key_no, random() as value from read.metric_run
           cross join read.metric_name
           where not live and key = any(array['${keys.join("','")}'])
             and run_id like 'run_0000%') drawn`,
  `insert into read.run_hparam_values (run_id, key, text, number)
   select 'run_' || lpad(n::text, 26, '0'), key, coalesce(number::text, text), number
   from generate_series(1, ${runs}) n,
   lateral (values ('lr', n % 1000 * 1e-4, null), ('opt', null, case n % 4 when 0 then 'sgd' else 'adam' end),
                   ('seed', n, null), ('depth', n % 32, null), ('data', null, 'set-' || n % 12)) p (key, number, text)`,
  'vacuum analyze read.run_hparam_values, read.runs, read.metric_run, read.metric_settled, read.metric_name, read.projects',
]
