import type { Client } from 'pg'
import { askApi, signIn } from '../test/servers/api.ts'
import { seededKeys, seededMember, seededRuns, seedRuns } from '../test/servers/seed-runs.ts'
import type { Target } from './chart.ts'
import type { Spread } from './rig/quantile.ts'
import { timeEach } from './rig/repeat.ts'

export type RunListReport = {
  runs: number
  metricKeys: number
  /** Milliseconds per request, by query and caller: row-level security applies to members only. */
  queries: { query: string; by: 'admin' | 'member'; took: Spread }[]
}

const times = 60
/** From a value that nearly every run matches to one that no run matches. */
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

type Tokens = Readonly<Record<'admin' | 'member', string>>

/** Seeds the runs, and signs in a person who may read a quarter of them, by the memberships of the seed. */
export async function seedForReaders({ url, token }: Target, client: Client): Promise<Tokens> {
  await seedRuns(client)
  const body = { username: seededMember, password: `${seededMember} of the bench` }
  await askApi(url, 'POST', '/api/admin/users', { token, body: { ...body, role: 'operator' } })
  return { admin: token, member: await signIn(url, body.username, body.password) }
}

/** Lists of 50 out of 100,000 runs, filtered and sorted. */
export async function measureRunList({ url }: Target, tokens: Tokens): Promise<RunListReport> {
  const byMetric = (metric: string) => `sort=${encodeURIComponent(metric)}`
  const asked = [
    'sort=-created_at',
    byMetric('-metric:val/accuracy:last'),
    `project=list-7&${byMetric('-metric:val/accuracy:last')}`,
    `state=succeeded&${byMetric('metric:val/loss:min')}`,
    // Matches nothing, which statistics cannot show: a fifth and a twentieth of the runs match one condition each.
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
  return { runs: seededRuns, metricKeys: seededKeys.length, queries }
}
