import { type SqlBool, sql } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import type { RunSearch } from '../../schemas/runs/search.ts'
import { readSearch } from '../rules/search.ts'
import type { Db, Page } from './by-metric.ts'
import { findRuns } from './found.ts'
import { inOrder, pageOfRuns, type Readable } from './list.ts'
import type { StoredRun } from './record.ts'

export type RunsAsked = {
  project: string
  /** A search, and ids or short ids of which the runs must have one. */
  q: string | undefined
  ids: readonly string[] | null
  limit: number
}

/** The newest runs of a search and how many there are (10,001: more than 10,000). */
export async function runsOfSearch(
  db: Db,
  readable: Readable,
  search: RunSearch | null,
  page: Page,
): Promise<{ counted: number; runs: StoredRun[] }> {
  const sort = '-created_at'
  const found = await findRuns(db, { readable, filter: {}, search, sort })
  return { counted: found.counted, runs: await pageOfRuns(db, found, sort, page) }
}

/** The newest of the runs of a project that were asked for, and how many there are (10,001: more than 10,000). */
export async function runsOfProject(
  db: Db,
  caller: Person,
  { project, q, ids, limit }: RunsAsked,
): Promise<{ matched: number; runs: StoredRun[] }> {
  const readable = { projects: [project], caller }
  const sort = '-created_at'
  const found = await findRuns(db, { readable, filter: { project }, search: readSearch(q), sort })
  if (ids === null)
    return { matched: found.counted, runs: await pageOfRuns(db, found, sort, { limit, offset: 0 }) }
  const named = found.runs.where(
    sql<SqlBool>`(runs.run_id = any(${ids}) or runs.short_id = any(${ids}))`,
  )
  const runs = await inOrder(named, sort).selectAll('runs').limit(limit).execute()
  return { matched: runs.length, runs }
}
