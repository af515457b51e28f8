import { type Kysely, sql } from 'kysely'
import type { Route } from '../../auth/route.ts'
import { Refusal } from '../../platform/refusal.ts'
import { containing } from '../../platform/search-text.ts'
import type { BenchmarkTables } from '../../projector/benchmarks/table.ts'
import {
  type BenchmarkRecord,
  benchmarkListQuery,
  benchmarkPath,
  benchmarkRecord,
  historyQuery,
  historyRow,
  leaderboardQuery,
  leaderboardRow,
  versionListQuery,
  versionQuery,
} from '../../schemas/benchmarks/catalogue.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { list, one, pagedList } from '../reading/list.ts'
import { asCaller, type Reads } from '../reading/reads.ts'
import type { AccessTables } from '../rules/access.ts'
import { readHistory } from './history.ts'
import { readLeaderboard } from './leaderboard.ts'

export type Tables = BenchmarkTables & AccessTables

const noSuch = ({ name }: { name: string }) => `No such benchmark: ${name}`

export const catalogueRoutes = (reads: Reads<Tables>): Route[] => [
  list({
    ...asCaller(reads),
    path: '/api/benchmarks',
    tag: 'benchmarks',
    summary: 'List the benchmarks of the catalogue in their newest versions',
    query: benchmarkListQuery,
    row: benchmarkRecord,
    matching: ({ db }, { query: { q } }) =>
      newestVersions(db).$if(q !== undefined, rows =>
        rows.where('name', 'ilike', containing(String(q))),
      ),
    select: rows => rows.selectAll().orderBy('name'),
    shape: rows => rows.map(toRecord),
  }),
  one({
    ...asCaller(reads),
    path: '/api/benchmarks/{name}',
    reach: 'all',
    tag: 'benchmarks',
    summary: 'Read a benchmark of the catalogue, in its newest version or another',
    params: benchmarkPath,
    query: versionQuery,
    response: benchmarkRecord,
    missing: noSuch,
    read: ({ db }, { params, query }) => findVersion(db, params.name, query.version),
  }),
  list({
    ...asCaller(reads),
    path: '/api/benchmarks/{name}/versions',
    reach: 'all',
    tag: 'benchmarks',
    summary: 'List the versions of a benchmark, newest first',
    params: benchmarkPath,
    query: versionListQuery,
    row: benchmarkRecord,
    matching: ({ db }, { params }) => versionsOf(db).where('name', '=', params.name),
    select: rows => rows.selectAll().orderBy('version', 'desc'),
    shape: rows => rows.map(toRecord),
  }),
  ...scoreRoutes(reads),
]

const scoreRoutes = (reads: Reads<Tables>): Route[] => [
  pagedList({
    ...asCaller(reads),
    path: '/api/benchmarks/{name}/leaderboard',
    reach: 'all',
    tag: 'benchmarks',
    summary: 'What the runs that one may read scored in a benchmark, best first',
    params: benchmarkPath,
    query: leaderboardQuery,
    row: leaderboardRow,
    refusals: ['not_found'],
    async read({ db }, { params, query }, page) {
      const benchmark = await findVersion(db, params.name, query.version)
      if (!benchmark) throw new Refusal('not_found', noSuch(params))
      const { project = null, each = 'run' } = query
      return readLeaderboard(db, benchmark, { project, each, ...page })
    },
  }),
  pagedList({
    ...asCaller(reads),
    path: '/api/benchmarks/{name}/history',
    reach: 'all',
    tag: 'benchmarks',
    summary:
      'The scores in a benchmark of the runs that one may read as they were recorded, newest first',
    params: benchmarkPath,
    query: historyQuery,
    row: historyRow,
    refusals: ['not_found'],
    async read({ db }, { params, query }, page) {
      const benchmark = await findVersion(db, params.name, query.version)
      if (!benchmark) throw new Refusal('not_found', noSuch(params))
      return readHistory(db, benchmark, { project: query.project ?? null, ...page })
    },
  }),
]

/** All versions, each with the time of the first. */
const versionsOf = (db: Kysely<Tables>) =>
  db.selectFrom(from =>
    from
      .selectFrom('benchmark_versions')
      .selectAll()
      .select(
        sql<Date>`first_value(defined_at) over (partition by name order by version)`.as(
          'created_at',
        ),
      )
      .select(sql<boolean>`version = max(version) over (partition by name)`.as('is_newest'))
      .as('versions'),
  )

const newestVersions = (db: Kysely<Tables>) => versionsOf(db).where('is_newest', '=', true)

async function findVersion(
  db: Kysely<Tables>,
  name: string,
  version: number | undefined,
): Promise<BenchmarkRecord | undefined> {
  const row = await versionsOf(db)
    .selectAll()
    .where('name', '=', name)
    .where(eb => (version === undefined ? eb('is_newest', '=', true) : eb('version', '=', version)))
    .executeTakeFirst()
  return row && toRecord(row)
}

type Row = {
  name: string
  version: number
  owner: string
  definition: Pick<
    BenchmarkRecord,
    'metric' | 'higher_is_better' | 'task' | 'split' | 'dataset' | 'harness' | 'description'
  >
  created_at: Date
  defined_at: Date
  defined_by: string
}

const toRecord = ({ name, version, owner, definition, ...row }: Row): BenchmarkRecord => ({
  name,
  owner,
  version,
  ...definition,
  created_at: toTimestamp(row.created_at),
  defined_at: toTimestamp(row.defined_at),
  defined_by: row.defined_by,
})
