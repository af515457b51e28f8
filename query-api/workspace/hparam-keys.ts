import { sql } from 'kysely'
import type { Route } from '../../auth/route.ts'
import { hparamKeysQuery, projectHparamKeys } from '../../schemas/series.ts'
import { one } from '../reading/list.ts'
import { inProject } from '../rules/access.ts'
import type { WorkspaceDeps } from './deps.ts'

/** Hyperparameters are gathered from at most this many of the newest runs. */
const gathered = 1_000
const mostKeys = 500

type Counted = { key: string; runs: number; distinct: number; numeric: boolean; all: number }

export const hparamKeysRoute = ({ reads, runsOfProject }: WorkspaceDeps): Route =>
  one({
    ...inProject(reads),
    path: '/api/projects/{name}/hparam-keys',
    tag: 'projects',
    summary: 'The hyperparameters of the newest runs of a project, with how many runs have each',
    query: hparamKeysQuery,
    response: projectHparamKeys,
    async read({ db }, { caller, params, query }) {
      const asked = { project: params.name, q: query.q, ids: null, limit: gathered }
      const { matched, runs } = await runsOfProject(db, caller, asked)
      const runIds = runs.map(run => run.run_id)
      const { rows } = await sql<Counted>`
        select * from (
          select key, count(*) as runs, count(distinct text) as "distinct",
                 bool_and(number is not null) as numeric, count(*) over () as "all"
            from run_hparam_values where run_id = any(${runIds}::text[])
           group by key order by count(*) desc, key collate "C" limit ${mostKeys}) most
         order by key collate "C"`.execute(reads.as(caller, runIds))
      const keys = rows.map(({ all: _, ...row }) => row)
      return { matched, gathered: runIds.length, keys, left_out: (rows[0]?.all ?? 0) - keys.length }
    },
  })
