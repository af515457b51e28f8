import type { RunListQuery } from '../../schemas/runs/records.ts'
import type { RunSearch } from '../../schemas/runs/search.ts'
import { countRows, maxExactCount } from '../reading/page.ts'
import { parseHparamSort } from './by-hparam.ts'
import { byId, type Db, parseMetricSort, type Runs } from './by-metric.ts'
import { type Found, filteredRuns, inOrder, type Readable } from './list.ts'
import { searchMatcher } from './search.ts'

/**
 * Up to this many runs are passed on by id. PostgreSQL misjudges how many runs have some value of a metric or
 * hyperparameter, and then compares those of every run, again for each condition and for the page.
 */
const few = 2_000

type Asked = { readable: Readable; filter: RunListQuery; search: RunSearch | null; sort: string }

/** The runs of a list. `atOnce` is an argument for tests. */
export async function findRuns(
  db: Db,
  { readable, filter, search, sort }: Asked,
  atOnce = few,
): Promise<Found> {
  const { ofRuns, ofReports } = partsOf(search)
  const match = await searchMatcher(db, search)
  const runs = filteredRuns(db, readable, filter).$if(ofRuns !== null, runs =>
    runs.where(match(ofRuns, null)),
  )
  if (ofReports === null)
    return { runs, counted: await countRows(db, runs.select('runs.run_id')), first: null }
  const candidates = await idsOf(runs, atOnce + 1)
  const found =
    candidates.length <= atOnce
      ? byId(db, candidates).where(match(ofReports, candidates))
      : runs.where(match(ofReports, null))
  // Conditions on metrics are looked up in the order of the list; those on hyperparameters and labels are joined, in no order.
  const isOfField = parseMetricSort(sort) === null && parseHparamSort(sort) === null
  const isInOrder = has('metric', ofReports) && isOfField
  const ids = await idsOf(isInOrder ? inOrder(found, sort) : found, maxExactCount + 1)
  return {
    runs: ids.length <= atOnce ? byId(db, ids) : found,
    counted: ids.length,
    first: isInOrder ? ids : null,
  }
}

async function idsOf(runs: Runs, limit: number): Promise<string[]> {
  const rows = await runs.select('runs.run_id').limit(limit).execute()
  return rows.map(row => row.run_id)
}

/** Splits a search into conditions on the runs themselves and on their reports; both together are the search. */
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

const isOfReports = (search: RunSearch) =>
  has('metric', search) || has('hparam', search) || has('label', search)

function has(kind: RunSearch['kind'], search: RunSearch): boolean {
  if ('items' in search) return search.items.some(item => has(kind, item))
  return search.kind === 'not' ? has(kind, search.item) : search.kind === kind
}
