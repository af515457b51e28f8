import type { Alert } from '../../../schemas/alerts.ts'
import type { Artifact } from '../../../schemas/artifacts/artifacts.ts'
import { byInterest } from '../../../schemas/metrics/interest.ts'
import { segment } from '../api/client.ts'
import type { JobAttempt, JobDetail, RunRecord } from '../api/records.ts'
import { artifactColumns } from '../artifacts/artifacts.ts'
import { checkpointText } from '../jobs/checkpoints.ts'
import { describe, oneRun } from '../program/describe.ts'
import { type ExitCode, exitCode } from '../program/failure.ts'
import { type CommonOptions, openSignedIn, type Session, type World } from '../program/session.ts'
import { amount, counted, duration, size, toNumber, wholeDuration } from '../terminal/amounts.ts'
import { toJson } from '../terminal/harmless.ts'
import { type Column, table } from '../terminal/table.ts'
import { padEnd } from '../terminal/width.ts'
import { alertColumns } from './alerts.ts'
import { paintState } from './follow/view.ts'
import { lastWordsOf } from './last-words.ts'

type Known = {
  run: RunRecord
  job: JobDetail | null
  alerts: Alert[]
  artifacts: Artifact[]
  lastWords: string[]
}

/** More alerts than a screen holds are left to `forge alerts`. */
const mostAlerts = 10

export const describeShow = describe({
  text: 'everything known about a run: its job, hyperparameters, labels, metrics and artifacts',
  operands: oneRun,
})

export async function show(world: World, id: string, options: CommonOptions): Promise<ExitCode> {
  const session = await openSignedIn(world, options)
  const { api, terminal, isJson } = session
  const run = await api.get<RunRecord>(`/api/runs/${segment(id)}`)
  const at = `/api/jobs/${segment(run.run_id)}`
  const [job, alerts, artifacts, lastWords] = await Promise.all([
    run.source === 'job' ? api.find<JobDetail>(at) : null,
    alertsOf(api, run),
    api.find<Artifact[]>(`${at}/artifacts`),
    isJson ? [] : lastWordsOf(api, run),
  ])
  const known = { run, job, alerts: alerts ?? [], artifacts: artifacts ?? [] }
  if (isJson) terminal.data(toJson(known))
  else for (const line of showLines(session, { ...known, lastWords })) terminal.data(line)
  return exitCode.ok
}

/** Servers of earlier versions have no alerts. */
const alertsOf = (api: Session['api'], { run_id, counts }: RunRecord) =>
  counts.alerts > 0
    ? api.find<Alert[]>(`/api/runs/${segment(run_id)}/alerts?limit=${mostAlerts}`)
    : null

type Fact = [name: string, text: string | null]

function showLines(session: Session, { run, job, alerts, artifacts, lastWords }: Known): string[] {
  const { api, terminal, nowMs } = session
  const state = job?.state ?? run.state
  const reason = state === 'succeeded' ? null : (job?.state_reason ?? null)
  const heading = [terminal.paint('bold', run.short_id), paintState(terminal.paint, state, state)]
  return [
    [...heading, ...(reason === null ? [] : [`(${reason})`])].join('  '),
    ...factLines(session, [
      ['why', run.why],
      ...factsOfRun(run, nowMs()),
      ...(job ? factsOfJob(job) : []),
      ['page', `${api.host}/runs/${run.run_id}`],
    ]),
    ...section(session, 'last words', lastWords),
    ...section(session, 'alerts', alertLines(session, alerts)),
    ...section(session, 'attempts', attemptLines(session, job)),
    ...section(session, 'parameters of the job', valueLines(session, job?.spec.spec.params ?? {})),
    ...section(session, 'hyperparameters', valueLines(session, run.hparams)),
    ...section(session, 'labels', valueLines(session, run.labels ?? {})),
    ...section(session, 'metrics', metricLines(session, run)),
    ...section(session, 'artifacts', artifactLines(session, artifacts)),
    ...section(session, 'notes', run.notes === '' ? [] : run.notes.split('\n')),
  ]
}

const section = ({ terminal }: Session, title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', terminal.paint('bold', title), ...lines.map(line => `  ${line}`)]

/** Aligned names and texts; facts that are not known are left out. */
function factLines({ terminal }: Session, facts: readonly Fact[]): string[] {
  const known = facts.filter(([, text]) => text !== null && text !== '')
  const width = Math.max(0, ...known.map(([name]) => name.length))
  return known.map(([name, text]) => `  ${terminal.paint('dim', padEnd(name, width))}  ${text}`)
}

function factsOfRun(run: RunRecord, nowMs: number): Fact[] {
  const age = duration((nowMs - Date.parse(run.created_at)) / 1000)
  return [
    ['run', run.run_id],
    ['name', run.name],
    ['project', run.project],
    ['owner', run.owner],
    ['created', `${run.created_at} (${age} ago)`],
    ['started', run.started_at],
    ['ended', run.ended_at],
    ['ran for', run.duration_s === null ? null : wholeDuration(run.duration_s)],
    ['exit code', run.exit_code === null ? null : String(run.exit_code)],
    ['last report', run.last_report_at],
    ['silent since', run.silent_since ? silentText(run.silent_since, nowMs) : null],
    ['tags', run.tags.join(', ')],
    ['log', run.logs.bytes === 0 ? null : size(run.logs.bytes)],
  ]
}

const silentText = (since: string, nowMs: number): string =>
  `${since} (${duration((nowMs - Date.parse(since)) / 1000)}): its process may have ended; forge stop --force ends the run`

/** Conditions in words, where the word alone does not say what follows. */
const conditionTexts: Readonly<Record<string, string>> = {
  no_report:
    'no_report: the program runs and has reported nothing; it stays starting, and costs nothing, until it reports running',
}

function factsOfJob(job: JobDetail): Fact[] {
  const { recipe, progress, queue } = job
  return [
    ['recipe', recipe && `${recipe.name}@${recipe.version}`],
    [
      'machine',
      `${job.nodes} × ${job.profile} (${job.series}), ${counted(job.gpus, 'GPU')} in all`,
    ],
    ['phase', job.phase],
    ['step', progress?.step == null ? null : stepText(progress.step, progress.total_steps)],
    ['left', progress?.eta_s == null ? null : duration(progress.eta_s)],
    ['place', queue?.position == null ? null : `${queue.position} in the queue`],
    ['attempt', attemptText(job)],
    ['conditions', job.conditions.map(name => conditionTexts[name] ?? name).join(', ')],
    ['checkpoint', job.checkpoint && checkpointText(job.checkpoint)],
    ['priority', String(job.priority)],
    ['GPU-hours', job.gpu_hours],
    ['cost', job.cost === null ? null : `${job.cost} ${job.currency}`],
  ]
}

/** Attempts after a pause do not count towards the limit on attempts after losses. */
function attemptText({ attempt, max_attempts, attempts }: JobDetail): string {
  const pauses = attempts.filter(each => each.end_reason === 'paused').length
  if (pauses === 0) return `${attempt} of at most ${max_attempts}`
  return `${attempt}, after ${pauses === 1 ? '1 pause' : `${pauses} pauses`}`
}

export const stepText = (step: number, total: number | null): string =>
  total === null ? String(step) : `${step}/${total}`

function attemptLines({ terminal }: Session, job: JobDetail | null): string[] {
  const attempts = job?.attempts ?? []
  if (attempts.length < 2) return []
  const columns: Column<JobAttempt>[] = [
    { title: 'ATTEMPT', cell: row => String(row.attempt), align: 'right' },
    { title: 'STARTED', cell: row => row.started_at ?? '-' },
    { title: 'ENDED', cell: row => row.ended_at ?? '-' },
    { title: 'FROM', cell: row => row.resume_from ?? '', drops: true },
    { title: 'BY', cell: row => row.end_reason ?? '', shrinks: true },
    { title: 'NODES', cell: row => row.nodes.join(', '), shrinks: true, drops: true },
  ]
  return table(columns, attempts, inside(terminal))
}

type Value = [name: string, value: unknown]

const valueLines = ({ terminal }: Session, values: Record<string, unknown>): string[] => {
  const rows = Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1))
  const columns: Column<Value>[] = [
    { title: 'NAME', cell: ([name]) => name, shrinks: true },
    {
      title: 'VALUE',
      cell: ([, value]) => (typeof value === 'string' ? value : JSON.stringify(value)),
      shrinks: true,
    },
  ]
  return rows.length === 0 ? [] : table(columns, rows, inside(terminal))
}

/** More metrics than a screen holds are left to `forge metrics`. */
const mostMetrics = 30

function metricLines({ terminal }: Session, { summary, short_id }: RunRecord): string[] {
  const keys = byInterest(new Map(Object.entries(summary)))
  if (keys.length === 0) return []
  const value = (of: number | string | null | undefined) => (of == null ? '' : amount(toNumber(of)))
  const columns: Column<string>[] = [
    { title: 'METRIC', cell: key => key, shrinks: true },
    { title: 'LAST', cell: key => value(summary[key]?.last), align: 'right' },
    { title: 'MIN', cell: key => value(summary[key]?.min), align: 'right' },
    { title: 'MAX', cell: key => value(summary[key]?.max), align: 'right' },
    { title: 'STEP', cell: key => String(summary[key]?.step ?? ''), align: 'right' },
    { title: 'POINTS', cell: key => String(summary[key]?.count ?? ''), align: 'right' },
  ]
  const lines = table(columns, keys.slice(0, mostMetrics), inside(terminal))
  const more = keys.length - mostMetrics
  return more > 0 ? [...lines, `and ${more} more: forge metrics ${short_id}`] : lines
}

const alertLines = ({ terminal, nowMs }: Session, alerts: readonly Alert[]): string[] =>
  alerts.length === 0 ? [] : table(alertColumns(nowMs()), alerts, inside(terminal))

function artifactLines({ terminal }: Session, artifacts: readonly Artifact[]): string[] {
  return artifacts.length === 0 ? [] : table(artifactColumns, artifacts, inside(terminal))
}

/** A table in a section, which is indented by two columns. */
const inside = ({ columns, paint }: Session['terminal']) => {
  const width = columns()
  return {
    width: width === null ? null : width - 2,
    paintTitle: (text: string) => paint('dim', text),
  }
}
