import { type SqlBool, sql } from 'kysely'
import type { Person } from '../../platform/http/route.ts'
import { containing } from '../../platform/search-text.ts'
import { type RunListQuery, runStates } from '../../schemas/run-records.ts'
import { parseSort, parseWords } from '../page.ts'
import { type Db, type Page, parseMetricSort, type Runs, runsByMetric } from './by-metric.ts'
import type { StoredRun } from './record.ts'

/** Runs of these projects, or of the caller; `projects` null: all. */
export type Readable = { projects: string[] | null; caller: Person }

export function filteredRuns(db: Db, { projects, caller }: Readable, filter: RunListQuery): Runs {
  const { state, project, owner, tag, q, since, until } = filter
  const states = state === undefined ? null : parseWords(state, runStates, 'state')
  const found = q === undefined ? null : containing(q)
  return db
    .selectFrom('readable_runs as runs')
    .$if(projects !== null, runs =>
      runs.where(
        sql<SqlBool>`(runs.project = any(${projects}) or runs.owner = ${caller.username})`,
      ),
    )
    .$if(states !== null, runs => runs.where(sql<SqlBool>`runs.state = any(${states})`))
    .$if(project !== undefined, runs => runs.where('runs.project', '=', String(project)))
    .$if(owner !== undefined, runs => runs.where('runs.owner', '=', String(owner)))
    .$if(tag !== undefined, runs => runs.where(sql<SqlBool>`runs.tags @> array[${tag}]::text[]`))
    .$if(since !== undefined, runs =>
      runs.where(sql<SqlBool>`runs.created_at >= ${instant(since)}`),
    )
    .$if(until !== undefined, runs => runs.where(sql<SqlBool>`runs.created_at < ${instant(until)}`))
    .$if(found !== null, runs => runs.where('runs.search', 'like', String(found)))
}

const sortable = [
  'created_at',
  'started_at',
  'ended_at',
  'name',
  'project',
  'owner',
  'state',
  'source',
] as const
/** The others keep PostgreSQL's own place for nulls, or their index would not serve. */
const mayBeNull: readonly string[] = ['started_at', 'ended_at', 'name']

/** A page of runs in the order asked for: by a field, or by what a metric came to. `counted`: how many there are. */
export async function pageOfRuns(
  db: Db,
  runs: Runs,
  sort: string,
  page: Page & { counted: number },
): Promise<StoredRun[]> {
  const metric = parseMetricSort(sort)
  if (metric) return runsByMetric(db, runs, metric, page)
  const { by, desc } = parseSort(sort, sortable)
  return runs
    .selectAll('runs')
    .orderBy(`runs.${by}`, order => {
      const directed = desc ? order.desc() : order.asc()
      return mayBeNull.includes(by) ? directed.nullsLast() : directed
    })
    .orderBy('runs.run_id', desc ? 'desc' : 'asc') // a total order, or pages overlap
    .limit(page.limit)
    .offset(page.offset)
    .execute()
}

/** As an instant: Postgres knows no offsets past 15:59, ISO 8601 does. */
const instant = (text: string | undefined): Date => new Date(text ?? Number.NaN)
