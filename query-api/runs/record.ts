import { type Kysely, type Selectable, sql } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import { toJsonNumber } from '../../platform/series/json-number.ts'
import { meanWithin } from '../../platform/series/sum.ts'
import type { AlertTables } from '../../projector/alerts/table.ts'
import type { ArtifactTables } from '../../projector/artifacts/table.ts'
import type { DeploymentTables } from '../../projector/deployments/table.ts'
import type { DiagnosisTables } from '../../projector/diagnoses/table.ts'
import type { EnvironmentTables } from '../../projector/environment/table.ts'
import type { JobTables } from '../../projector/jobs/table.ts'
import type { LabelTables } from '../../projector/labels/table.ts'
import type { LogTables } from '../../projector/logs/table.ts'
import type { MetricSummary, MetricTables } from '../../projector/metrics/table.ts'
import type { ModelTables } from '../../projector/models/table.ts'
import type { RlEnvironmentTables } from '../../projector/rl-environments/table.ts'
import type { RunTables } from '../../projector/runs/table.ts'
import type { ValidationTables } from '../../projector/validation/table.ts'
import type { RunRow } from '../../schemas/runs/records.ts'
import { toTimestamp, toTimestampOrNull } from '../../schemas/timestamp.ts'
import { type AccessTables, mayReadRun } from '../rules/access.ts'
import { bestSteps } from './best.ts'
import { readWhys } from './end.ts'
import { noResults, type Results, readResults } from './results.ts'

export type RecordTables = AccessTables &
  AlertTables &
  ArtifactTables &
  DeploymentTables &
  DiagnosisTables &
  EnvironmentTables &
  JobTables &
  LabelTables &
  LogTables &
  MetricTables &
  ModelTables &
  RlEnvironmentTables &
  ValidationTables
export type StoredRun = Selectable<RunTables['runs']>
type Db = Kysely<RecordTables>

/** All metrics of each run, or as many as a list shows: first the metric of the run's best value and `pinned`. */
export type ShownMetrics = 'all' | { pinned: readonly string[] }

/** The records of these runs in the given order, joined from several read models. */
export async function readRecords(
  db: Db,
  runs: readonly StoredRun[],
  { caller, now, metrics: shown }: { caller: Person; now: Date; metrics: ShownMetrics },
): Promise<RunRow[]> {
  const runIds = runs.map(run => run.run_id)
  const [
    metrics,
    logs,
    artifacts,
    children,
    results,
    samples,
    environments,
    alerts,
    jobStates,
    whys,
  ] = await Promise.all([
    readMetrics(db, runs, shown),
    readLogs(db, runIds),
    readArtifacts(db, runs),
    readChildren(db, runIds, caller),
    readResults(db, runIds, caller),
    readSamples(db, runIds),
    readEnvironments(db, runIds),
    countAlerts(db, runIds),
    readJobStates(db, runIds),
    readWhys(db, runs),
  ])
  return runs.map(run => {
    const { run_id } = run
    return toRecord(run, now, {
      metrics: metrics.get(run_id) ?? noMetrics,
      logs: logs.get(run_id) ?? noLogs,
      artifacts: artifacts.get(run_id) ?? noArtifacts,
      children: children.get(run_id) ?? [],
      results: results.get(run_id) ?? noResults,
      samples: samples.get(run_id) ?? 0,
      environment: environments.get(run_id) ?? null,
      alerts: alerts.get(run_id) ?? 0,
      jobState: jobStates.get(run_id) ?? null,
      why: whys.get(run_id) ?? null,
    })
  })
}

type Parts = {
  metrics: Metrics
  logs: Logs
  artifacts: Artifacts
  children: string[]
  results: Results
  samples: number
  /** The digest. */
  environment: string | null
  alerts: number
  jobState: RunRow['job_state']
  why: string | null
}

function toRecord(
  run: StoredRun,
  now: Date,
  {
    metrics,
    logs,
    artifacts,
    children,
    results,
    samples,
    environment,
    alerts,
    jobState,
    why,
  }: Parts,
): RunRow {
  const { recipe_name, recipe_version, init_from, datasets, best_key, best_goal, ...named } = run
  const { search, retry_of, clone_of, ...own } = named
  const reportedMs = Math.max(metrics.lastReportMs, logs.lastMs)
  return {
    ...own,
    job_state: jobState,
    job_exists: run.source === 'job',
    created_at: toTimestamp(run.created_at),
    started_at: toTimestampOrNull(run.started_at),
    ended_at: toTimestampOrNull(run.ended_at),
    silent_since: toTimestampOrNull(run.silent_since),
    duration_s:
      run.started_at === null ? null : secondsBetween(run.started_at, run.ended_at ?? now),
    why,
    last_report_at: reportedMs === 0 ? null : toTimestamp(new Date(reportedMs)),
    summary: metrics.summary,
    best:
      best_key === null || best_goal === null
        ? null
        : {
            key: best_key,
            goal: best_goal,
            value: metrics.summary[best_key]?.[best_goal] ?? null,
            step: metrics.bestStep,
            artifact_id: artifacts.best,
          },
    environment_digest: environment,
    recipe:
      recipe_name === null || recipe_version === null
        ? null
        : { name: recipe_name, version: recipe_version },
    lineage: { init_from, datasets, children, ...results },
    counts: {
      metric_keys: metrics.keys,
      points: metrics.points,
      samples,
      artifacts: artifacts.count,
      log_bytes: logs.bytes,
      alerts,
    },
    logs: { eof: logs.eof, bytes: logs.bytes },
    deleted_at: toTimestampOrNull(run.deleted_at),
    kept_because: run.kept_for === 0 ? null : keptBecause(run.kept_for),
  }
}

const keptBecause = (users: number) =>
  users === 1
    ? 'One job, model or deployment refers to it'
    : `${users} jobs, models or deployments refer to it`

const secondsBetween = (from: Date, to: Date) =>
  Math.max(0, Math.round((to.getTime() - from.getTime()) / 1000))

type Metrics = {
  summary: RunRow['summary']
  keys: number
  points: number
  lastReportMs: number
  bestStep: number | null
}
const noMetrics: Metrics = { summary: {}, keys: 0, points: 0, lastReportMs: 0, bestStep: null }

async function readEnvironments(db: Db, runIds: string[]): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('run_environments')
    .select(['run_id', 'digest'])
    .where(sql<boolean>`run_id = any(${runIds})`)
    .execute()
  return new Map(rows.map(row => [row.run_id, row.digest]))
}

async function readMetrics(
  db: Db,
  runs: readonly StoredRun[],
  shown: ShownMetrics,
): Promise<Map<string, Metrics>> {
  const found = new Map<string, Metrics>()
  const rows = shown === 'all' ? await readAll(db, runs) : await readListed(db, runs, shown.pinned)
  for (const row of rows) {
    const metrics = found.get(row.run_id) ?? { ...noMetrics, summary: {} }
    found.set(row.run_id, metrics)
    metrics.keys = row.keys
    metrics.points += row.count
    metrics.lastReportMs = row.last_received_ms
    metrics.summary[row.key] = {
      last: toJsonNumber(row.last),
      min: row.min,
      max: row.max,
      mean: meanOf(row),
      step: row.last_step,
      count: row.count,
      nonfinite: row.nonfinite,
    }
    // Metrics that are not shown cannot be summed either, so reported points are counted, including repeated steps.
    if (shown !== 'all' && row.keys > listedMetrics) metrics.points = row.points
  }
  const steps = await bestSteps(db, wantedBest(runs, rows))
  for (const [runId, step] of steps) {
    const metrics = found.get(runId)
    if (metrics) metrics.bestStep = step
  }
  return found
}

const summaries = (db: Db, runs: readonly StoredRun[]) =>
  db
    .selectFrom('metric_run as m')
    .innerJoin('metric_keys as k', 'k.run_no', 'm.run_no')
    .innerJoin('metric_summary as s', 's.run_no', 'm.run_no')
    .innerJoin('metric_name as n', 'n.key_no', 's.key_no')
    .select(['m.run_id', 'm.run_no', 'm.last_received_ms', 'm.points', 'k.keys', 'n.key'])
    .select(['s.key_no', 's.last', 's.min', 's.max', 's.sum', 's.last_step', 's.count'])
    .select('s.nonfinite')
    .where(sql<boolean>`m.run_id = any(${runs.map(run => run.run_id)})`)

const readAll = (db: Db, runs: readonly StoredRun[]) => summaries(db, runs).execute()

/** Maximum metrics of a run in a list (contract: pinned ones, then by name). */
const listedMetrics = 50

/** Reads no more than `listedMetrics` per run, however many there are. */
async function readListed(db: Db, runs: readonly StoredRun[], pinned: readonly string[]) {
  const wanted = [...pinned, ...runs.flatMap(run => run.best_key ?? [])]
  const { rows: pins } = await sql<{ key_no: number }>`
    select key_no from metric_name where key = any(${wanted})`.execute(db)
  const keyNos = pins.map(({ key_no }) => key_no)
  const rows = await summaries(db, runs)
    .where(sql<boolean>`s.key_no = any(k.listed || ${keyNos}::integer[])`)
    .orderBy(sql`n.key collate "C"`)
    .execute()
  const bestOf = new Map(runs.map(run => [run.run_id, run.best_key]))
  const ofRuns = Map.groupBy(rows, row => row.run_id)
  return [...ofRuns].flatMap(([runId, ofRun]) => {
    const isPinned = ({ key }: { key: string }) => key === bestOf.get(runId) || pinned.includes(key)
    const first = ofRun.filter(isPinned)
    return [...first, ...ofRun.filter(row => !isPinned(row))].slice(0, listedMetrics)
  })
}

type Values = Pick<MetricSummary, 'count' | 'nonfinite' | 'sum' | 'min' | 'max'>

const meanOf = ({ count, nonfinite, sum, min, max }: Values): number | null =>
  min === null || max === null ? null : meanWithin({ sum, min, max }, count - nonfinite)

type SummaryRow = {
  run_id: string
  run_no: number
  key_no: number
  key: string
  min: number | null
  max: number | null
}

function wantedBest(runs: readonly StoredRun[], rows: readonly SummaryRow[]) {
  return runs.flatMap(({ run_id, best_key, best_goal }) => {
    const row = rows.find(one => one.run_id === run_id && one.key === best_key)
    const value = best_goal === null ? null : row?.[best_goal]
    if (!row || best_goal === null || value === null || value === undefined) return []
    return [{ run_id, run_no: row.run_no, key_no: row.key_no, goal: best_goal, value }]
  })
}

type Logs = { bytes: number; eof: boolean; lastMs: number }
const noLogs: Logs = { bytes: 0, eof: false, lastMs: 0 }

async function readLogs(db: Db, runIds: string[]): Promise<Map<string, Logs>> {
  const rows = await db
    .selectFrom('log_runs')
    .select(['run_id', 'bytes', 'eof_state', 'last_ms'])
    .where(sql<boolean>`run_id = any(${runIds})`)
    .execute()
  return new Map(
    rows.map(({ run_id, bytes, eof_state, last_ms }) => [
      run_id,
      { bytes, eof: eof_state !== null, lastMs: last_ms },
    ]),
  )
}

type Artifacts = { count: number; best: string | null }
const noArtifacts: Artifacts = { count: 0, best: null }

async function readArtifacts(db: Db, runs: readonly StoredRun[]): Promise<Map<string, Artifacts>> {
  const { rows } = await sql<Artifacts & { run_id: string }>`
    select a.run_id, count(*) as count,
           (array_agg(a.artifact_id order by
              case when r.best_goal = 'max' then -1 else 1 end * (a.metrics ->> r.best_key)::float8,
              a.step desc nulls last, a.created_at desc, a.artifact_id desc)
             filter (where a.kind = 'checkpoint' and a.status in ('registered', 'verified') and a.metrics ? r.best_key))[1] as best
      from artifacts a join runs r using (run_id)
     where a.run_id = any(${runs.map(run => run.run_id)}) and a.status not in ('deleting', 'deleted')
     group by a.run_id`.execute(db)
  return new Map(rows.map(({ run_id, ...artifacts }) => [run_id, artifacts]))
}

/** The runs that started from their artifacts, if this person may read them. */
async function readChildren(
  db: Db,
  runIds: string[],
  caller: Person,
): Promise<Map<string, string[]>> {
  const { rows } = await sql<{ run_id: string; children: string[] }>`
    select a.run_id, array_agg(distinct r.run_id) as children
      from artifacts a join readable_runs r on r.init_from @> array[a.artifact_id]
     where a.run_id = any(${runIds}) and ${mayReadRun(caller)} group by a.run_id`.execute(db)
  return new Map(rows.map(row => [row.run_id, row.children]))
}

async function readSamples(db: Db, runIds: readonly string[]): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('validation_runs')
    .select(['run_id', 'samples'])
    .where(sql<boolean>`run_id = any(${runIds})`)
    .execute()
  return new Map(rows.map(row => [row.run_id, row.samples]))
}

async function countAlerts(db: Db, runIds: readonly string[]): Promise<Map<string, number>> {
  const { rows } = await sql<{ run_id: string; count: number }>`
    select run_id, count(*) as count from alerts
     where run_id = any(${runIds}) group by run_id`.execute(db)
  return new Map(rows.map(({ run_id, count }) => [run_id, count]))
}

async function readJobStates(
  db: Db,
  runIds: readonly string[],
): Promise<Map<string, RunRow['job_state']>> {
  const rows = await db
    .selectFrom('jobs')
    .select(['run_id', 'state'])
    .where(sql<boolean>`run_id = any(${runIds})`)
    .execute()
  return new Map(rows.map(({ run_id, state }) => [run_id, state]))
}
