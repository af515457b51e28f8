import { isEnded, type JobDetail, type LogLine, type RunRecord } from '../../api/records.ts'
import { toNumber } from '../../terminal/amounts.ts'
import { Series } from '../../terminal/series.ts'
import { oneLine } from '../../terminal/width.ts'
import type { RunEvent, Stream } from './run-events.ts'

/** Log lines kept for display. */
const tailLines = 500

const justNowMs = 1500

export type Stage = { state: string; sinceMs: number }

/** Everything known about a followed run. `see` changes it; views only read it. */
export type Picture = {
  runId: string
  shortId: string
  name: string
  url: string
  recipe: string | null
  state: string
  reason: string | null
  phase: string | null
  /** The states so far, in order, each with its start. */
  stages: Stage[]
  endedMs: number | null
  step: number | null
  totalSteps: number | null
  etaSeconds: number | null
  exitCode: number | null
  metrics: Map<string, Series>
  log: LogLine[]
  /** Streams that are currently interrupted, with the reason. */
  gaps: Map<Stream, { reason: string; sinceMs: number }>
}

/** The state before the first event. */
const unknown = ''

export function newPicture(
  run: { run_id: string; short_id: string; name: string | null },
  url: string,
): Picture {
  return {
    runId: run.run_id,
    shortId: run.short_id,
    name: oneLine(run.name ?? ''),
    url,
    recipe: null,
    state: unknown,
    reason: null,
    phase: null,
    stages: [],
    endedMs: null,
    step: null,
    totalSteps: null,
    etaSeconds: null,
    exitCode: null,
    metrics: new Map(),
    log: [],
    gaps: new Map(),
  }
}

type EventOf<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>

export function see(picture: Picture, event: RunEvent, nowMs: number): void {
  switch (event.type) {
    case 'job':
      seeJob(picture, event)
      break
    case 'run':
      seeRun(picture, event)
      break
    case 'points':
      seePoints(picture, event)
      break
    case 'state':
      seeState(picture, event, nowMs)
      break
    case 'gap':
      seeGap(picture, event, nowMs)
      break
    case 'line':
      seeLine(picture, event)
      break
  }
}

/** Applies a job's full history, which replaces the states collected from the stream. */
function seeJob(picture: Picture, { job }: EventOf<'job'>): void {
  picture.recipe = job.recipe && `${job.recipe.name} ${job.recipe.version}`
  picture.phase = job.phase
  picture.step = job.progress?.step ?? null
  picture.totalSteps = job.progress?.total_steps ?? null
  picture.etaSeconds = job.progress?.eta_s ?? job.queue?.eta_s?.p50 ?? null
  picture.exitCode = job.exit_code
  picture.reason = job.state_reason
  picture.stages = stagesOf(picture.stages, job.transitions)
  enter(picture, job.state, Date.parse(job.ended_at ?? ''))
}

/** Applies the record of a run without a job, which enters each state once. A stream may have reported the newest already. */
function seeRun(picture: Picture, { run }: EventOf<'run'>): void {
  const passed = stagesOfRun(run)
  const known = picture.stages
  const newer = known.filter(({ state }) => !passed.some(stage => stage.state === state))
  picture.stages = [
    ...passed.map(stage => known.find(({ state }) => state === stage.state) ?? stage),
    ...newer,
  ]
  enter(picture, run.state, Date.parse(run.ended_at ?? ''))
}

/** A run without a job has no recorded history: it was pending, then running, and may have ended. */
function stagesOfRun({ state, created_at, started_at, ended_at }: RunRecord): Stage[] {
  const passed: [state: string, at: string | null][] = [
    ['pending', created_at],
    ['running', started_at],
    [state, isEnded(state) ? ended_at : null],
  ]
  return passed.flatMap(([name, at]) =>
    at === null ? [] : [{ state: name, sinceMs: Date.parse(at) }],
  )
}

/**
 * A live change is dated by its arrival, because `at` has whole seconds and short stages would have no length.
 * A stream starts with the whole history; known parts of it keep their times.
 */
function seeState(picture: Picture, { frame }: EventOf<'state'>, nowMs: number): void {
  const at = Date.parse(frame.at)
  // The stream of an ended run begins with its history.
  if (isEnded(picture.state) && !isEnded(frame.state)) return
  if (isKnown(picture.stages, frame.state, at)) return
  const sinceMs = Math.abs(nowMs - at) <= justNowMs ? nowMs : at
  picture.stages.push({ state: frame.state, sinceMs })
  picture.reason = frame.state_reason
  enter(picture, frame.state, isEnded(frame.state) ? sinceMs : Number.NaN)
}

const isKnown = (stages: readonly Stage[], state: string, at: number): boolean =>
  stages.some(
    (stage, index) =>
      stage.state === state &&
      stage.sinceMs <= at + justNowMs &&
      at - justNowMs <= (stages[index + 1]?.sinceMs ?? Number.POSITIVE_INFINITY),
  )

function seePoints(picture: Picture, { frame }: EventOf<'points'>): void {
  for (const { key, step, value } of frame.points) {
    const series = picture.metrics.get(key) ?? new Series()
    picture.metrics.set(key, series)
    series.add(step, toNumber(value))
  }
}

function seeLine(picture: Picture, { line }: EventOf<'line'>): void {
  picture.log.push(line)
  if (picture.log.length > 2 * tailLines) picture.log.splice(0, picture.log.length - tailLines)
}

function seeGap(picture: Picture, { stream, reason }: EventOf<'gap'>, nowMs: number): void {
  if (reason === null) picture.gaps.delete(stream)
  else picture.gaps.set(stream, { reason, sinceMs: picture.gaps.get(stream)?.sinceMs ?? nowMs })
}

/** Shorter stays in a state are not shown. */
const shortestSeconds = 0.05

/** Seconds in each state so far; the last state of a live run keeps counting. */
export function timeline(picture: Picture, nowMs: number): { state: string; seconds: number }[] {
  return picture.stages.flatMap(({ state, sinceMs }, at) => {
    if (isEnded(state)) return []
    const until = picture.stages[at + 1]?.sinceMs ?? picture.endedMs ?? nowMs
    const seconds = Math.max(0, (until - sinceMs) / 1000)
    const isPassing = at < picture.stages.length - 1 && seconds < shortestSeconds
    return isPassing ? [] : [{ state, seconds }]
  })
}

/** Seconds from the first state to the end or, for a live run, to now. */
export const elapsedSeconds = (picture: Picture, nowMs: number): number =>
  secondsInto(picture, picture.endedMs ?? nowMs)

/** Seconds from the first state to that moment. */
export const secondsInto = (picture: Picture, atMs: number): number =>
  Math.max(0, (atMs - (picture.stages[0]?.sinceMs ?? atMs)) / 1000)

/** Ignores a late report once the run has ended. */
function enter(picture: Picture, state: string, endedMs: number): void {
  if (isEnded(picture.state) && !isEnded(state)) return
  picture.state = state
  if (isEnded(state) && !Number.isNaN(endedMs)) picture.endedMs ??= endedMs
}

/**
 * The stages of the job's history, with the phases of one state merged. Its times are whole seconds; a more
 * exact time known from a stream is kept.
 */
function stagesOf(known: readonly Stage[], transitions: JobDetail['transitions']): Stage[] {
  const changes = transitions.filter(({ to }, index) => to !== transitions[index - 1]?.to)
  return changes.map(({ to, at }, index) => {
    const sinceMs = Date.parse(at)
    const seen = known[index]
    return seen?.state === to && Math.abs(seen.sinceMs - sinceMs) <= justNowMs
      ? seen
      : { state: to, sinceMs }
  })
}
