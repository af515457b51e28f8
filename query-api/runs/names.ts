import { type Kysely, sql } from 'kysely'
import { Type } from 'typebox'
import type { Person } from '../../auth/caller.ts'
import { type Route, route } from '../../auth/route.ts'
import { containing } from '../../platform/search-text.ts'
import type { HparamTables } from '../../projector/hparams/table.ts'
import {
  type RunNamesQuery,
  type RunsOfProject,
  runNamesQuery,
  runsByProjectQuery,
  runsOfProject,
} from '../../schemas/runs/records.ts'
import type { Reads } from '../reading/reads.ts'
import { readableProjects } from '../rules/access.ts'
import { readSearch } from '../rules/search.ts'
import { findRuns } from './found.ts'
import { filteredRuns, inOrder } from './list.ts'
import type { RecordTables } from './record.ts'

type Tables = HparamTables & RecordTables
type Db = Kysely<Tables>

/** Names for the run list: groups, columns and search terms. */
export const namesRoutes = (reads: Reads<Tables>): Route[] => [
  route({
    method: 'GET',
    path: '/api/runs/by-project',
    credential: 'person',
    tag: 'runs',
    summary: 'Count the runs of a search in each project, by name',
    query: runsByProjectQuery,
    response: Type.Array(runsOfProject),
    async handle({ caller, query: { q, ...filter } }) {
      const db = reads.as(caller)
      const readable = { projects: await readableProjects(db, caller), caller }
      const search = readSearch(q)
      const { runs } = await findRuns(db, { readable, filter, search, sort: '-created_at' })
      const rows: RunsOfProject[] = await runs
        .select(['runs.project', eb => eb.fn.countAll<number>().as('runs')])
        .groupBy('runs.project')
        .orderBy('runs.project')
        .execute()
      return rows
    },
  }),
  route({
    method: 'GET',
    path: '/api/runs/names',
    credential: 'person',
    tag: 'runs',
    summary: 'Names that the newest runs use: owners, tags, labels, metrics or hyperparameters',
    query: runNamesQuery,
    response: Type.Array(Type.String()),
    async handle({ caller, query: { of = 'owners', contains = '', limit = 50 } }) {
      const runIds = await newestRuns(reads.as(caller), caller)
      const db = reads.as(caller, runIds)
      const { rows } = await sql<{ name: string }>`
        select name from (${namesIn[of](runIds)}) as found(name)
         where lower(name) like ${containing(contains)}
         order by starts_with(lower(name), lower(${contains})) desc, name collate "C"
         limit ${limit}`.execute(db)
      return rows.map(row => row.name)
    },
  }),
]

/** Names are gathered from at most this many runs and metrics, to be fast enough for typing. */
const gathered = { runs: 1_000, metrics: 200_000 } as const

async function newestRuns(db: Db, caller: Person): Promise<string[]> {
  const readable = { projects: await readableProjects(db, caller), caller }
  const rows = await inOrder(filteredRuns(db, readable, {}), '-created_at')
    .select('runs.run_id')
    .limit(gathered.runs)
    .execute()
  return rows.map(row => row.run_id)
}

type Of = NonNullable<RunNamesQuery['of']>

const namesIn: Record<Of, (runIds: readonly string[]) => ReturnType<typeof sql>> = {
  owners: runIds => sql`select distinct owner from runs where run_id = any(${runIds})`,
  tags: runIds => sql`select distinct unnest(tags) from runs where run_id = any(${runIds})`,
  hparams: runIds => sql`select distinct key from run_hparam_values where run_id = any(${runIds})`,
  labels: runIds => sql`select distinct key from run_labels where run_id = any(${runIds})`,
  // If runs have very many metrics, the newest runs' metrics come first.
  metrics: runIds => sql`
    select n.key from metric_name n where n.key_no in (
      select s.key_no from metric_summary s where s.run_no in (
        select run_no from (
          select m.run_no, sum(k.keys) over (order by a.nth) as keys
            from unnest(${runIds}::text[]) with ordinality a(run_id, nth)
            join metric_run m using (run_id) join metric_keys k using (run_no)) newest
         where keys <= ${gathered.metrics}))`,
}
