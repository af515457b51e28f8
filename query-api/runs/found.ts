import { type SqlBool, sql } from 'kysely'
import type { RunListQuery } from '../../schemas/run-records.ts'
import type { RunSearch } from '../../schemas/run-search.ts'
import { countRows, maxExactCount } from '../page.ts'
import type { Db, Runs } from './by-metric.ts'
import { filteredRuns, type Readable } from './list.ts'
import { searchMatcher } from './search.ts'

/**
 * Up to this many runs are passed on by id. PostgreSQL misjudges how many runs have some value of a metric or
 * hyperparameter, and then compares those of every run, again for each condition and for the page.
 */
const few = 2_000

type Asked = { readable: Readable; filter: RunListQuery; search: RunSearch | null }

/** The runs of a list, and their number up to the limit of `X-Total-Count`. `atOnce` is an argument for tests. */
export async function findRuns(
  db: Db,
  { readable, filter, search }: Asked,
  atOnce = few,
): Promise<{ runs: Runs; counted: number }> {
  const { ofRuns, ofReports } = partsOf(search)
  const match = await searchMatcher(db, search)
  const runs = filteredRuns(db, readable, filter).$if(ofRuns !== null, runs =>
    runs.where(match(ofRuns, null)),
  )
  if (ofReports === null) return { runs, counted: await countRows(db, runs.select('runs.run_id')) }
  const candidates = await idsOf(runs, atOnce + 1)
  const found =
    candidates.length <= atOnce
      ? byId(db, candidates).where(match(ofReports, candidates))
      : runs.where(match(ofReports, null))
  const ids = await idsOf(found, maxExactCount + 1)
  return { runs: ids.length <= atOnce ? byId(db, ids) : found, counted: ids.length }
}

const byId = (db: Db, ids: readonly string[]): Runs =>
  db.selectFrom('runs').where(sql<SqlBool>`runs.run_id = any(${ids})`)

async function idsOf(runs: Runs, limit: number): Promise<string[]> {
  const rows = await runs.select('runs.run_id').limit(limit).execute()
  return rows.map(row => row.run_id)
}

/** What a search says of the runs themselves, and of what they reported; together they are the search. */
function partsOf(search: RunSearch | null): {
  ofRuns: RunSearch | null
  ofReports: RunSearch | null
} {
  if (search === null) return { ofRuns: null, ofReports: null }
  const items = search.kind === 'and' ? search.items : [search]
  return {
    ofRuns: allOf(items.filter(item => !isOfReports(item))),
    ofReports: allOf(items.filter(isOfReports)),
  }
}

const allOf = (items: RunSearch[]): RunSearch | null =>
  items.length === 0 ? null : { kind: 'and', items }

function isOfReports(search: RunSearch): boolean {
  if ('items' in search) return search.items.some(isOfReports)
  if (search.kind === 'not') return isOfReports(search.item)
  return search.kind === 'metric' || search.kind === 'hparam'
}
