import { jobStates, runStates, searchedStates } from '../../../schemas/jobs/states.ts'
import { byInterest } from '../../../schemas/metrics/interest.ts'
import { firstRows, type Part } from '../api/every-page.ts'
import type { JobRow, RunRecord } from '../api/records.ts'
import { closest } from '../program/closest.ts'
import { usageFailure } from '../program/failure.ts'
import { countOf } from '../program/list.ts'
import type { Flags, Session, Texts } from '../program/session.ts'

/** A listed run, with or without a job. These are the fields of `--json`. */
export type RunRow = {
  run_id: string
  short_id: string
  name: string | null
  starred: boolean
  project: string
  owner: string
  source: string
  state: string
  state_reason: string | null
  recipe: string | null
  gpus: number | null
  step: number | null
  total_steps: number | null
  metric: { key: string; value: number | string } | null
  submitted_at: string
  started_at: string | null
  ended_at: string | null
  running_s: number | null
  eta_s: number | null
  cost: string | null
}

export type ListOptions = Texts<'project' | 'state' | 'owner' | 'metric' | 'sort'> &
  Flags<'all' | 'deleted' | 'starred' | 'archived'> & { search?: string | undefined; limit: string }

const recentMs = 86_400_000
const allStates: readonly string[] = searchedStates

/** The wanted states, separated by commas; null for all. */
export function statesOf(text: string | undefined): string[] | null {
  if (text === undefined || text === '') return null
  const words = text.split(',').map(word => word.trim())
  const unknown = words.find(word => !allStates.includes(word))
  if (unknown === undefined) return words
  const meant = closest(unknown, allStates)
  throw usageFailure(
    `There is no state "${unknown}"${meant === null ? '' : `; did you mean ${meant}?`}`,
    `states: ${allStates.join(', ')}`,
  )
}

export function listRuns(session: Session, options: ListOptions): Promise<Part<RunRow>> {
  const { search, sort, deleted, starred, archived } = options
  const isSearch = search !== undefined || sort !== undefined || deleted || starred || archived
  return isSearch ? searchRuns(session, options) : newestRuns(session, options)
}

/** In the order of the server. Jobs have fields that runs lack, and cannot be searched by them. */
async function searchRuns({ api }: Session, options: ListOptions): Promise<Part<RunRow>> {
  const { project, owner, state, search: q, sort, metric } = options
  const { deleted, starred, archived } = options
  const { rows: runs, isMore } = await firstRows<RunRecord>(api, '/api/runs', {
    ...{ project, owner, limit: countOf(options.limit), state, q, sort },
    ...(deleted && { deleted: 'true' }),
    ...(starred && { starred: 'true' }),
    ...(archived && { archived: 'true' }),
  })
  const [, sortedBy] = /^-?metric:(.+):(?:last|min|max)$/s.exec(sort ?? '') ?? []
  return { rows: runs.map(run => rowOfRun(run, metric ?? sortedBy)), isMore }
}

async function newestRuns({ api, nowMs }: Session, options: ListOptions): Promise<Part<RunRow>> {
  const { project, owner, state = '' } = options
  const limit = countOf(options.limit)
  const states = statesOf(state)
  // Runs and jobs are separate lists with separate states. An empty list: nothing can match.
  const among = (known: readonly string[]) => states?.filter(word => known.includes(word)).join()
  const [ofJobs, ofRuns] = [among(jobStates), among(runStates)]
  const query = { project, owner, limit }
  const none = { rows: [], isMore: false }
  const [jobs, runs] = await Promise.all([
    ofJobs === '' ? none : firstRows<JobRow>(api, '/api/jobs', { ...query, state: ofJobs }),
    ofRuns === ''
      ? none
      : firstRows<RunRecord>(api, '/api/runs', { ...query, state: ofRuns, sort: '-created_at' }),
  ])
  const byId = new Map<string, RunRecord>(runs.rows.map(run => [run.run_id, run]))
  const isArchived = ({ run_id }: { run_id: string }) => byId.get(run_id)?.archived === true
  const rows = [
    ...jobs.rows.map((job: JobRow) => rowOfJob(job, byId.get(job.run_id), options.metric)),
    ...runs.rows.filter(run => run.source !== 'job').map(run => rowOfRun(run, options.metric)),
  ]
  const isWanted = ({ ended_at }: RunRow) =>
    options.all || state !== '' || ended_at === null || nowMs() - Date.parse(ended_at) < recentMs
  const wanted = rows.filter(row => isWanted(row) && !isArchived(row)).sort(newestFirst)
  const isMore = jobs.isMore || runs.isMore || wanted.length > limit
  return { rows: wanted.slice(0, limit), isMore }
}

const newestFirst = (a: RunRow, b: RunRow) =>
  Date.parse(b.submitted_at) - Date.parse(a.submitted_at) || (a.run_id < b.run_id ? 1 : -1)

function rowOfJob(job: JobRow, run: RunRecord | undefined, metric: string | undefined): RunRow {
  const { run_id, short_id, name, project, owner, state, state_reason, gpus, cost } = job
  return {
    ...{ run_id, short_id, name, project, owner, source: 'job', state },
    state_reason: job.conditions.includes('no_report') ? 'no_report' : state_reason,
    starred: run?.starred ?? false,
    recipe: job.recipe && `${job.recipe.name}@${job.recipe.version}`,
    gpus,
    step: job.progress?.step ?? null,
    total_steps: job.progress?.total_steps ?? null,
    metric: run ? metricOf(run, metric) : null,
    submitted_at: job.submitted_at,
    started_at: job.started_at,
    ended_at: job.ended_at,
    running_s: job.running_s,
    eta_s: job.progress?.eta_s ?? job.queue?.eta_s?.p50 ?? null,
    cost,
  }
}

function rowOfRun(run: RunRecord, metric: string | undefined): RunRow {
  const { run_id, short_id, name, project, owner, source, started_at, ended_at } = run
  const state = run.job_state ?? run.state
  const state_reason = run.silent_since ? 'silent' : null
  const shown = metricOf(run, metric)
  return {
    ...{ run_id, short_id, name, project, owner, source, state, state_reason },
    starred: run.starred,
    recipe: run.recipe ? `${run.recipe.name}@${run.recipe.version}` : null,
    ...{ gpus: null, total_steps: null, eta_s: null, cost: null },
    step: shown ? (run.summary[shown.key]?.step ?? null) : null,
    metric: shown,
    submitted_at: run.created_at,
    started_at,
    ended_at,
    running_s: run.duration_s,
  }
}

function metricOf({ summary }: RunRecord, wanted: string | undefined): RunRow['metric'] {
  const counted = new Map(Object.entries(summary).map(([key, { count }]) => [key, { count }]))
  const key = wanted ?? byInterest(counted)[0]
  const last = key === undefined ? undefined : summary[key]?.last
  return key === undefined || last === undefined ? null : { key, value: last }
}
