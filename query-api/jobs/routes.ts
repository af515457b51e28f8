import { type Kysely, type OrderByItemBuilder, sql } from 'kysely'
import type { Pool } from 'pg'
import type { Static } from 'typebox'
import type { Person } from '../../auth/caller.ts'
import { type Route, route } from '../../auth/route.ts'
import type { QueueBook } from '../../events/queue-picture.ts'
import { Refusal } from '../../platform/refusal.ts'
import { containing } from '../../platform/search-text.ts'
import type { Clock } from '../../platform/time.ts'
import type { ArtifactTables } from '../../projector/artifacts/table.ts'
import type { ChangeTables } from '../../projector/changes/table.ts'
import type { JobTables } from '../../projector/jobs/table.ts'
import type { LogTables } from '../../projector/logs/table.ts'
import type { MetricTables } from '../../projector/metrics/table.ts'
import type { UsageTables } from '../../projector/usage/table.ts'
import { jobDetail, jobListQuery, jobRow, jobStates } from '../../schemas/jobs.ts'
import { runIdInPath } from '../../schemas/shared.ts'
import { type AccessTables, findRun, readableProjects } from '../access.ts'
import { listRoute } from '../list-route.ts'
import { setCursor } from '../newest-change.ts'
import { countRows, parseSort, parseWords } from '../page.ts'
import type { Reads } from '../reads.ts'
import { readBeside } from './beside.ts'
import { readDetail } from './detail.ts'
import { rowColumns, toJobRow } from './row.ts'
import { withWaitReasons } from './wait-reasons.ts'

type Tables = AccessTables &
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
  listRoute({
    path: '/api/jobs',
    credential: 'person',
    tag: 'jobs',
    summary: 'List the jobs one may read, the newest first',
    query: jobListQuery,
    row: jobRow,
    async read({ caller, query, ctx }, { limit, offset }) {
      const { by, desc } = parseSort(query.sort ?? '-submitted_at', sortable)
      const db = reads.as(caller)
      await setCursor(ctx, db)
      const jobs = filtered(db, await readableProjects(db, caller), caller, query)
      const stored = await jobs
        .select(rowColumns)
        .orderBy(by, order => inOrder(order, by, desc))
        .orderBy('run_id', desc ? 'desc' : 'asc') // a total order, or pages overlap
        .limit(limit)
        .offset(offset)
        .execute()
      const rows = await withWaitReasons(pool, stored)
      const counted = await countRows(db, jobs.select('run_id'))
      const runIds = rows.map(job => job.run_id)
      const at = now()
      const beside = await readBeside(reads.as(caller, runIds), rows, queue, at)
      return { rows: rows.map(job => toJobRow(job, beside(job), at)), counted }
    },
  }),
  route({
    method: 'GET',
    path: '/api/jobs/{run_id}',
    credential: 'person',
    reach: 'its_people',
    tag: 'jobs',
    summary: 'Read a job: its spec, admission, attempts and every change of state',
    params: runIdInPath,
    response: jobDetail,
    refusals: ['not_found'],
    async handle({ caller, params }) {
      const { run_id, db } = await findRun(reads, caller, params.run_id, 'job')
      const stored = await db
        .selectFrom('jobs')
        .selectAll()
        .where('run_id', '=', run_id)
        .executeTakeFirst()
      const [job] = stored ? await withWaitReasons(pool, [stored]) : []
      if (!job) throw new Refusal('not_found', `No such job: ${params.run_id}`)
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

/** Few runs are deleted; the partial index has only them. */
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
