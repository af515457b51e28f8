import { showAlerts } from './alerts.ts'
import { ApiFailure, get } from './api.ts'
import { liveCharts, type Point, type Value } from './charts.ts'
import { showMarks } from './header-marks.ts'
import { logView } from './log.ts'
import { lengthOf } from './numbers.ts'
import { element, hideFailure, openPage, rowOf, showFailure } from './page.ts'
import { type Phase, showPhases } from './phases.ts'
import { follow } from './stream.ts'
import { showWhy } from './why.ts'

type Run = {
  run_id: string
  short_id: string
  name: string | null
  project: string
  owner: string
  state: string
  job_exists: boolean
  created_at: string
  started_at: string | null
  ended_at: string | null
  duration_s: number | null
  hparams: Record<string, unknown>
  message: string | null
  why: string | null
  recipe: { name: string; version: string } | null
  counts: { points: number; alerts: number }
}
type Job = {
  state: string
  state_reason: string | null
  transitions: { at: string; to: string; reason: string | null; spent_s: number | null }[]
  spec: { spec: { params: Record<string, unknown> } }
}
type Artifact = {
  kind: string
  path: string
  format: string
  step: number | null
  size_bytes: number | null
}
type Buckets = {
  key: string
  points: [number, number | null, number | null, number | null, Value][]
}[]

/** Runs with more points are drawn from buckets that are re-read every few seconds. */
const maxStreamedPoints = 50_000
const rereadMs = 5_000
const endStates = ['succeeded', 'failed', 'stopped', 'abandoned']

const runId = decodeURIComponent(location.pathname.split('/').at(-1) ?? '')

async function show(): Promise<void> {
  const run = await readRun()
  if (!run) return
  await refresh(run)
  element('run').hidden = false
  showMarks(element('marks'))
  await followRun(run)
}

async function readRun(): Promise<Run | null> {
  try {
    return await get<Run>(`/api/runs/${encodeURIComponent(runId)}`)
  } catch (error) {
    if (!(error instanceof ApiFailure && error.status === 404)) throw error
    element('name').textContent = 'Unknown run'
    const home = document.createElement('a')
    home.href = '/'
    home.textContent = 'the newest runs'
    showFailure(error, [
      'The address may be mistyped, or the run belongs to a project of which you are not a member. Go to ',
      home,
      ' that you may see, or ask its owner to make you a member.',
    ])
    return null
  }
}

async function followRun(run: Run): Promise<void> {
  // Left from before another sign-in.
  for (const id of ['charts', 'log']) element(id).replaceChildren()
  const live = liveMark()
  const charts = liveCharts(element('charts'))
  const draw = (points: readonly Point[]) => {
    if (points.length > 0) element('no-charts').hidden = true
    charts.add(points)
  }
  const log = logView(element('log'), element<HTMLInputElement>('follow'))
  await Promise.all([
    run.counts.points > maxStreamedPoints
      ? redrawFromBuckets(run, draw)
      : streamPoints(run, draw, live('points')),
    follow(`/api/runs/${run.run_id}/logs/stream?tail=2000`, {
      onLive: live('log'),
      onEvent: ({ event, data }) =>
        event === 'log' ? log.add(data as Parameters<typeof log.add>[0]) : undefined,
    }),
    followState(run, live('state')),
  ])
  // The last lines of the log come after the change of state.
  await refresh(await get<Run>(`/api/runs/${run.run_id}`))
  element('live').textContent = 'ended'
  element('live').className = 'live'
}

const streamPoints = (
  run: Run,
  draw: (points: readonly Point[]) => void,
  onLive: (isLive: boolean) => void,
) =>
  follow(`/api/runs/${run.run_id}/metrics/stream`, {
    onLive,
    onEvent: ({ event, data }) =>
      event === 'points' ? draw((data as { points: Point[] }).points) : undefined,
  })

async function redrawFromBuckets(
  run: Run,
  draw: (points: readonly Point[]) => void,
): Promise<void> {
  const keys = await get<{ key: string }[]>(`/api/runs/${run.run_id}/metrics/keys`)
  const asked = keys
    .slice(0, 40)
    .map(({ key }) => encodeURIComponent(key.replace(/[\\,]/g, '\\$&')))
  for (;;) {
    const series = await get<Buckets>(
      `/api/runs/${run.run_id}/metrics?keys=${asked.join(',')}&buckets=1000`,
    )
    draw(
      series.flatMap(({ key, points }) =>
        points.map(([step, , , , value]) => ({ key, step, value })),
      ),
    )
    if (endStates.includes((await get<Run>(`/api/runs/${run.run_id}`)).state)) return
    await new Promise(resolve => setTimeout(resolve, rereadMs))
  }
}

async function followState(run: Run, onLive: (isLive: boolean) => void): Promise<void> {
  const reread = () => {
    void get<Run>(`/api/runs/${run.run_id}`).then(refresh).then(hideFailure, showFailure)
  }
  // Hyperparameters and artifacts come without a change of state.
  const timer = setInterval(() => !document.hidden && reread(), rereadMs)
  try {
    await follow(`/api/stream?topics=job:${run.run_id}`, { onLive, onEvent: reread })
  } finally {
    clearInterval(timer)
  }
}

async function refresh(run: Run): Promise<void> {
  const job = run.job_exists ? await get<Job>(`/api/jobs/${run.run_id}`) : null
  const state = job?.state ?? run.state
  document.title = `${state} · ${run.short_id} · Forge`
  element('name').textContent = run.name ?? run.short_id
  const badge = element('state')
  badge.textContent = state + (job?.state_reason ? ` (${job.state_reason})` : '')
  badge.className = `badge ${state}`
  element('facts').textContent = factsOf(run).join(' · ')
  showPhases(element('phases'), phasesOf(run, job))
  showValues('hparams', run.hparams)
  showValues('params', job?.spec.spec.params ?? {})
  await Promise.all([showWhy(run), showAlerts(run), showArtifacts(run)])
}

const factsOf = (run: Run): string[] => [
  run.short_id,
  `project ${run.project}`,
  `by ${run.owner}`,
  ...(run.recipe ? [`recipe ${run.recipe.name} ${run.recipe.version}`] : []),
  ...(run.duration_s === null || run.ended_at === null
    ? []
    : [`ran for ${lengthOf(run.duration_s)}`]),
  run.run_id,
]

function phasesOf(run: Run, job: Job | null): Phase[] {
  if (job)
    return job.transitions.map(({ at, to, reason, spent_s }) => ({
      name: reason && to === 'starting' ? reason.replaceAll('_', ' ') : to,
      at,
      seconds: spent_s,
    }))
  const { created_at, started_at, ended_at } = run
  const waited = secondsBetween(created_at, started_at ?? ended_at)
  const ran = ended_at === null ? null : run.duration_s
  const marks: [name: string, at: string | null, seconds: number | null][] = [
    ['pending', created_at, waited],
    ['running', started_at, ran],
    [run.state, ended_at, null],
  ]
  return marks.flatMap(([name, at, seconds]) => (at === null ? [] : [{ name, at, seconds }]))
}

const secondsBetween = (from: string, to: string | null): number | null =>
  to === null ? null : (Date.parse(to) - Date.parse(from)) / 1000

function showValues(id: 'hparams' | 'params', values: Record<string, unknown>): void {
  const named = Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1))
  element(`${id}-section`).hidden = named.length === 0
  element(id).replaceChildren(
    ...named.map(([name, value]) =>
      rowOf([name], [typeof value === 'string' ? value : JSON.stringify(value)]),
    ),
  )
}

async function showArtifacts(run: Run): Promise<void> {
  const artifacts = await get<Artifact[]>(`/api/runs/${run.run_id}/artifacts`)
  element('artifacts-section').hidden = artifacts.length === 0
  element('artifacts').replaceChildren(
    ...artifacts.map(({ kind, path, format, step, size_bytes }) =>
      rowOf(
        [kind],
        [path],
        [format],
        [step === null ? '' : String(step)],
        [size_bytes === null ? '' : `${size_bytes} B`],
      ),
    ),
  )
}

/** One indicator for all streams: live while all of them are. */
function liveMark() {
  const states = new Map<string, boolean>()
  return (stream: string) => (isLive: boolean) => {
    states.set(stream, isLive)
    const all = [...states.values()].every(Boolean)
    element('live').textContent = all ? 'live' : 'reconnecting'
    element('live').className = `live ${all ? 'on' : 'off'}`
  }
}

await openPage(['run'], show)
