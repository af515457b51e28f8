import { type Kysely, type OrderByItemBuilder, sql } from 'kysely'
import type { Pool } from 'pg'
import type { Static } from 'typebox'
import type { Person } from '../../auth/caller.ts'
import type { Route } from '../../auth/route.ts'
import type { QueueBook } from '../../events/calculations/queue-picture.ts'
import { containing } from '../../platform/search-text.ts'
import type { Clock } from '../../platform/time.ts'
import type { ArtifactTables } from '../../projector/artifacts/table.ts'
import type { ChangeTables } from '../../projector/changes/table.ts'
import type { JobTables } from '../../projector/jobs/table.ts'
import type { LogTables } from '../../projector/logs/table.ts'
import type { MetricTables } from '../../projector/metrics/table.ts'
import type { UsageTables } from '../../projector/usage/table.ts'
import { jobDetail, jobListQuery, jobRow } from '../../schemas/jobs/jobs.ts'
import { jobStates } from '../../schemas/jobs/states.ts'
import { list, one } from '../reading/list.ts'
import { parseSort, parseWords } from '../reading/page.ts'
import type { Reads } from '../reading/reads.ts'
import { type AccessTables, noSuchJob, ofRun, readableProjects } from '../rules/access.ts'
import { setCursor } from '../rules/newest-change.ts'
import { readBeside } from './beside.ts'
import { readDetail } from './detail.ts'
import { rowColumns, toJobRow } from './row.ts'
import { withWaitReasons } from './wait-reasons.ts'

export type Tables = AccessTables &
  ArtifactTables &
  ChangeTables &
  JobTables &
  LogTables &
  MetricTables &
  UsageTables

const sortable = [
  'submitted_at',
  'started_at',
  'ended_at',
  'updated_at',
  'name',
  'project',
  'owner',
  'state',
  'priority',
  'gpus',
] as const

export type JobDeps = {
  reads: Reads<Tables>
  /** Connections to the schema `write`, for why a job waits. */
  pool: Pool
  queue: QueueBook
  now: Clock
}

export const jobRoutes = ({ reads, pool, queue, now }: JobDeps): Route[] => [
  list({
    credential: 'person',
    path: '/api/jobs',
    tag: 'jobs',
    summary: 'List the jobs one may read, newest first',
    query: jobListQuery,
    row: jobRow,
    async of({ caller, query, ctx }) {
      const order = parseSort(query.sort ?? '-submitted_at', sortable)
      const db = reads.as(caller)
      await setCursor(ctx, db)
      return { db, order, projects: await readableProjects(db, caller) }
    },
    matching: ({ db, projects }, { caller, query }) => filtered(db, projects, caller, query),
    select: (jobs, { order: { by, desc } }) =>
      jobs
        .select(rowColumns)
        .orderBy(by, order => inOrder(order, by, desc))
        .orderBy('run_id', desc ? 'desc' : 'asc'),
    async shape(stored, _, { caller }) {
      const rows = await withWaitReasons(pool, stored)
      const runIds = rows.map(job => job.run_id)
      const at = now()
      const beside = await readBeside(reads.as(caller, runIds), rows, queue, at)
      return rows.map(job => toJobRow(job, beside(job), at))
    },
  }),
  one({
    ...ofRun(reads, 'job'),
    path: '/api/jobs/{run_id}',
    tag: 'jobs',
    summary: 'Read a job: its spec, admission, attempts and every change of state',
    response: jobDetail,
    missing: noSuchJob,
    async read({ run_id, db }) {
      const stored = await db
        .selectFrom('jobs')
        .selectAll()
        .where('run_id', '=', run_id)
        .executeTakeFirst()
      const [job] = stored ? await withWaitReasons(pool, [stored]) : []
      if (!job) return
      const at = now()
      const beside = await readBeside(db, [job], queue, at)
      const { spec, admission, hold, control, search, ...row } = job
      return { ...toJobRow(row, beside(row), at), ...(await readDetail(db, job, at)) }
    },
  }),
]

/** `nulls last` only on these: on columns that are never null it would make their index unusable. */
const mayBeNull: readonly string[] = ['started_at', 'ended_at']

function inOrder(order: OrderByItemBuilder, by: string, desc: boolean): OrderByItemBuilder {
  const directed = desc ? order.desc() : order.asc()
  return mayBeNull.includes(by) ? directed.nullsLast() : directed
}

/** Few runs are deleted; the partial index contains only those. */
const isNotDeleted = sql<boolean>`
  jobs.run_id not in (select run_id from runs where deleted_at is not null)`

type Filter = Static<typeof jobListQuery>

function filtered(
  db: Kysely<JobTables>,
  projects: string[] | null,
  caller: Person,
  filter: Filter,
) {
  const { state, project, owner, team, recipe, series, q, since, until } = filter
  const states = state === undefined ? null : parseWords(state, jobStates, 'state')
  const found = q === undefined ? null : containing(q)
  return db
    .selectFrom('jobs')
    .where(isNotDeleted)
    .$if(projects !== null, jobs =>
      jobs.where(sql<boolean>`(project = any(${projects}) or owner = ${caller.username})`),
    )
    .$if(states !== null, jobs => jobs.where(sql<boolean>`state = any(${states})`))
    .$if(project !== undefined, jobs => jobs.where('project', '=', String(project)))
    .$if(owner !== undefined, jobs => jobs.where('owner', '=', String(owner)))
    .$if(team !== undefined, jobs => jobs.where('team', '=', String(team)))
    .$if(recipe !== undefined, jobs => jobs.where('recipe_name', '=', String(recipe)))
    .$if(series !== undefined, jobs => jobs.where('series', '=', String(series)))
    .$if(since !== undefined, jobs => jobs.where(sql<boolean>`submitted_at >= ${instant(since)}`))
    .$if(until !== undefined, jobs => jobs.where(sql<boolean>`submitted_at < ${instant(until)}`))
    .$if(found !== null, jobs => jobs.where('search', 'like', String(found)))
}

/** Converted here because Postgres rejects offsets past 15:59, which ISO 8601 allows. */
const instant = (text: string | undefined): Date => new Date(text ?? Number.NaN)
