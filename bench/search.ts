import type { Client } from 'pg'
import { askApi } from '../test/servers/api.ts'
import { seededMember, seededRuns } from '../test/servers/seed-runs.ts'
import type { Target } from './chart.ts'
import type { Spread } from './rig/quantile.ts'
import { timeEach } from './rig/repeat.ts'

export type SearchReport = {
  runs: number
  others: number
  queries: { q: string; by: 'admin' | 'member'; took: Spread }[]
}

const times = 60
/** From what everything matches to what nothing does. */
const searches = [
  '',
  'seeded',
  'seeded 777',
  'owner:person-7',
  'after:2026-02-01 NOT seeded',
  'qqq',
]
const others = 20_000

/** Searches in everything: 100,000 runs, which the caller has seeded, and 20,000 other things. */
export async function measureSearch(
  { url }: Target,
  client: Client,
  tokens: Record<'admin' | 'member', string>,
): Promise<SearchReport> {
  for (const statement of seeds) await client.query(statement)
  const queries: SearchReport['queries'] = []
  for (const q of searches)
    for (const by of ['admin', 'member'] as const) {
      const path = `/api/search?q=${encodeURIComponent(q)}`
      const took = await timeEach(times, () => askApi(url, 'GET', path, { token: tokens[by] }))
      queries.push({ q, by, took })
    }
  return { runs: seededRuns, others, queries }
}

const owner = `case when n % 3 = 0 then '${seededMember}' else 'person-' || n % 50 end`
const at = `timestamptz '2026-01-01' + n * interval '10 minutes'`
const run = `'run_' || lpad((n * 7)::text, 26, '0')`

/** Rows as projections write them. */
const seeds = [
  `insert into read.artifacts (artifact_id, run_id, kind, path, format, size_bytes, metrics, status, created_at, registered_by)
   select 'art_seeded_' || n, ${run}, 'checkpoint', 's3://seeded/' || n || '/model.safetensors', 'safetensors', 1, '{}',
          'registered', ${at}, 'run' from generate_series(1, 10000) n`,
  `insert into read.models (model, project, owner, description, protected_aliases, created_at, updated_at)
   select 'seeded-' || n, 'list-' || n % 20, ${owner}, 'a seeded model', '{}', ${at}, ${at} from generate_series(1, 4000) n`,
  `insert into read.datasets (owner, name, visibility, use_by, card, created_at, updated_at)
   select ${owner}, 'seeded-' || n, case when n % 2 = 0 then 'public' else 'private' end, 'granted', 'a card', ${at}, ${at}
     from generate_series(1, 4000) n`,
  `insert into read.rubrics (owner, name, criteria, description, scale_min, scale_max, visibility, version, digest, created_at,
                             updated_at, updated_by)
   select ${owner}, 'seeded-' || n, '[]', 'words', 0, 1, 'private', 1, '', ${at}, ${at}, 'admin' from generate_series(1, 2000) n`,
  ...['artifacts', 'models', 'datasets', 'rubrics'].map(table => `vacuum analyze read.${table}`),
]
