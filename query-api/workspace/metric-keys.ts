import { type QueryExecutorProvider, sql } from 'kysely'
import type { Route } from '../../auth/route.ts'
import { metricKeysQuery, projectMetricKeys } from '../../schemas/series.ts'
import { one } from '../reading/list.ts'
import { inProject } from '../rules/access.ts'
import type { WorkspaceDeps } from './deps.ts'

/** Keys are gathered from at most this many of the newest runs, and from no more metrics of theirs. */
const gathered = { runs: 1_000, metrics: 200_000 } as const

export const metricKeysRoute = ({ reads, runsOfProject }: WorkspaceDeps): Route =>
  one({
    ...inProject(reads),
    path: '/api/projects/{name}/metric-keys',
    tag: 'projects',
    summary: 'The metrics of the newest runs of a project, with how many runs have each',
    query: metricKeysQuery,
    response: projectMetricKeys,
    async read({ db }, { caller, params, query }) {
      const asked = { project: params.name, q: query.q, ids: null, limit: gathered.runs }
      const { matched, runs } = await runsOfProject(db, caller, asked)
      const runIds = runs.map(run => run.run_id)
      const { used, keys } = await countKeys(reads.as(caller, runIds), runIds)
      return { matched, gathered: used, sections: sectionsOf(keys), keys }
    },
  })

type Counted = { key: string; runs: number }

async function countKeys(db: QueryExecutorProvider, runIds: readonly string[]) {
  const { rows } = await sql<{ run_no: number | null }>`
    select run_no from (
      select m.run_no, sum(coalesce(k.keys, 0)) over (order by a.nth) as keys
        from unnest(${runIds}::text[]) with ordinality a(run_id, nth)
        left join metric_run m using (run_id) left join metric_keys k using (run_no)) newest
     where keys <= ${gathered.metrics}`.execute(db)
  const runNos = rows.flatMap(row => row.run_no ?? [])
  const counted = await sql<Counted>`
    select n.key, c.runs
      from (select s.key_no, count(*) as runs from metric_summary s
             where s.run_no = any(${runNos}::int4[]) group by s.key_no) c
      join metric_name n using (key_no) order by n.key collate "C"`.execute(db)
  return { used: rows.length, keys: counted.rows }
}

function sectionsOf(keys: readonly Counted[]) {
  const prefixes = Map.groupBy(keys, ({ key }) => key.slice(0, Math.max(0, key.indexOf('/'))))
  return [...prefixes].map(([prefix, of]) => ({ prefix, keys: of.length }))
}
