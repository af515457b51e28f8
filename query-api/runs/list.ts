import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import { runStates, searchedStates } from '../../schemas/jobs/states.ts'
import type { RunListQuery } from '../../schemas/runs/records.ts'
import { maxExactCount, parseSort, parseWords } from '../reading/page.ts'
import { parseHparamSort, runsByHparam } from './by-hparam.ts'
import { byId, type Db, type Page, parseMetricSort, type Runs, runsByMetric } from './by-metric.ts'
import type { StoredRun } from './record.ts'

/** Runs of these projects (null: all) or of the caller. */
export type Readable = { projects: string[] | null; caller: Person }

export function filteredRuns(db: Db, { projects, caller }: Readable, filter: RunListQuery): Runs {
  const { state, project, owner, tag, starred, archived, since, until, deleted = false } = filter
  const states = state === undefined ? null : parseWords(state, searchedStates, 'state')
  return db
    .selectFrom(deleted ? 'runs as runs' : 'readable_runs as runs')
    .$if(deleted, runs => runs.where('runs.deleted_at', 'is not', null))
    .$if(projects !== null, runs =>
      runs.where(
        sql<SqlBool>`(runs.project = any(${projects}) or runs.owner = ${caller.username})`,
      ),
    )
    .$if(states !== null, runs => runs.where(inStates(states ?? [])))
    .$if(project !== undefined, runs => runs.where('runs.project', '=', String(project)))
    .$if(owner !== undefined, runs => runs.where('runs.owner', '=', String(owner)))
    .$if(tag !== undefined, runs => runs.where(sql<SqlBool>`runs.tags @> array[${tag}]::text[]`))
    .$if(starred !== undefined, runs => runs.where(isMarked('starred', starred)))
    .$if(archived !== undefined, runs => runs.where(isMarked('archived', archived)))
    .$if(since !== undefined, runs =>
      runs.where(sql<SqlBool>`runs.created_at >= ${instant(since)}`),
    )
    .$if(until !== undefined, runs => runs.where(sql<SqlBool>`runs.created_at < ${instant(until)}`))
}

/** Written as the partial indexes are, which a parameter would rule out. */
export const isMarked = (mark: 'starred' | 'archived', wanted = false): RawBuilder<SqlBool> =>
  wanted ? sql`${sql.ref(`runs.${mark}`)}` : sql`not ${sql.ref(`runs.${mark}`)}`

/** A state that only jobs have is looked up among the few jobs that are in it. */
export function inStates(states: readonly string[]): RawBuilder<SqlBool> {
  const ofJobs = states.filter(state => !runStates.some(one => one === state))
  const ofRuns = sql<SqlBool>`runs.state = any(${states})`
  return ofJobs.length === 0
    ? ofRuns
    : sql<SqlBool>`(${ofRuns} or runs.run_id in (select run_id from jobs where state = any(${ofJobs})))`
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
  'duration_s',
] as const
/** `nulls last` only on these: on columns that are never null it would make their index unusable. */
const mayBeNull: readonly string[] = ['started_at', 'ended_at', 'name', 'duration_s']

export type Found = {
  runs: Runs
  /** Their number, up to the limit of `X-Total-Count`. */
  counted: number
  /** The first ones in the requested order, if finding and counting them already produced it. */
  first: readonly string[] | null
}

/** A page of the runs that were found, ordered by a field, a metric or a hyperparameter. */
export function pageOfRuns(
  db: Db,
  { runs, counted, first }: Found,
  sort: string,
  { limit, offset }: Page,
): Promise<StoredRun[]> {
  const metric = parseMetricSort(sort)
  if (metric) return runsByMetric(db, runs, metric, { limit, offset, counted })
  const hparam = parseHparamSort(sort)
  if (hparam) return runsByHparam(db, runs, hparam, { limit, offset })
  const isInFirst = first !== null && (offset + limit <= first.length || counted <= maxExactCount)
  const page = isInFirst
    ? inOrder(byId(db, first.slice(offset, offset + limit)), sort)
    : inOrder(runs, sort).limit(limit).offset(offset)
  return page.selectAll('runs').execute()
}

/** How long a run took; null until it has ended. */
const ranFor = sql`runs.ended_at - runs.started_at`

/** Ordered by a field; 422 for a field that lists cannot be sorted by. */
export function inOrder(runs: Runs, sort: string): Runs {
  const { by, desc } = parseSort(sort, sortable)
  return runs
    .orderBy(by === 'duration_s' ? ranFor : sql.ref(`runs.${by}`), order => {
      const directed = desc ? order.desc() : order.asc()
      return mayBeNull.includes(by) ? directed.nullsLast() : directed
    })
    .orderBy('runs.run_id', desc ? 'desc' : 'asc') // a total order, or pages overlap
}

/** Converted here because Postgres rejects offsets past 15:59, which ISO 8601 allows. */
const instant = (text: string | undefined): Date => new Date(text ?? Number.NaN)
