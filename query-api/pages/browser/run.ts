import { ApiFailure, get } from './api.ts'
import { liveCharts, type Point, type Value } from './charts.ts'
import { headerMarks } from './header-marks.ts'
import { logView } from './log.ts'
import { type Phase, showPhases } from './phases.ts'
import { signedIn } from './sign-in.ts'
import { follow } from './stream.ts'

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
  recipe: { name: string; version: string } | null
  counts: { points: number }
}
type Job = {
  state: string
  state_reason: string | null
  transitions: { at: string; to: string; reason: string | null }[]
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
const element = <T extends HTMLElement>(id: string) => document.getElementById(id) as T

async function start(): Promise<void> {
  element('run').hidden = true
  try {
    await signedIn()
    element('run').hidden = false
    showMarks()
    await showRun()
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 401) await start()
    else showFailure(error)
  }
}

/** Also called after a new sign-in, because the person may have changed. */
function showMarks(): void {
  const marks = headerMarks.map(mark => mark())
  element('marks').replaceChildren(...marks)
}

function showFailure(error: unknown): void {
  const failure = element('failure')
  failure.hidden = false
  failure.textContent = error instanceof Error ? error.message : String(error)
}

async function showRun(): Promise<void> {
  const run = await get<Run>(`/api/runs/${runId}`)
  await refresh(run)
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
  await follow(`/api/stream?topics=job:${run.run_id}`, {
    onLive,
    onEvent: () => {
      void get<Run>(`/api/runs/${run.run_id}`).then(refresh, showFailure)
    },
  })
  await refresh(await get<Run>(`/api/runs/${run.run_id}`))
}

async function refresh(run: Run): Promise<void> {
  const job = run.job_exists ? await get<Job>(`/api/jobs/${run.run_id}`) : null
  const state = job?.state ?? run.state
  document.title = `${state} · ${run.short_id} · Forge`
  element('name').textContent = run.name ?? run.short_id
  const badge = element('state')
  badge.textContent = state + (job?.state_reason ? ` (${job.state_reason})` : '')
  badge.className = `badge ${state}`
  const recipe = run.recipe ? ` · recipe ${run.recipe.name} ${run.recipe.version}` : ''
  element('facts').textContent =
    `${run.short_id} · project ${run.project} · by ${run.owner}${recipe} · ${run.run_id}`
  showPhases(element('phases'), phasesOf(run, job))
  await showArtifacts(run)
}

function phasesOf(run: Run, job: Job | null): Phase[] {
  if (job)
    return job.transitions.map(({ at, to, reason }) => ({
      name: reason && to === 'starting' ? reason.replaceAll('_', ' ') : to,
      at,
    }))
  const marks: [string, string | null][] = [
    ['pending', run.created_at],
    ['running', run.started_at],
    [run.state, run.ended_at],
  ]
  return marks.flatMap(([name, at]) => (at === null ? [] : [{ name, at }]))
}

async function showArtifacts(run: Run): Promise<void> {
  const artifacts = await get<Artifact[]>(`/api/runs/${run.run_id}/artifacts`)
  element('artifacts-section').hidden = artifacts.length === 0
  element('artifacts').replaceChildren(
    ...artifacts.map(({ kind, path, format, step, size_bytes }) => {
      const row = document.createElement('tr')
      for (const text of [
        kind,
        path,
        format,
        step ?? '',
        size_bytes === null ? '' : `${size_bytes} B`,
      ]) {
        const cell = document.createElement('td')
        cell.textContent = String(text)
        row.append(cell)
      }
      return row
    }),
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

await start()
