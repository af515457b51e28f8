import { type Api, segment, withQuery } from '../../api/client.ts'
import {
  type EofFrame,
  isEnded,
  type JobDetail,
  type LogLine,
  type PointsFrame,
  type RunRecord,
  type StateFrame,
} from '../../api/records.ts'
import { followStream, type SseEvent } from '../../api/streams.ts'
import { exitCode, Failure } from '../../program/failure.ts'
import { pause } from '../../program/pause.ts'
import { harmlessValue } from '../../terminal/harmless.ts'

export type Stream = 'log' | 'metrics' | 'state'

/** An event of a followed run, in order of arrival. */
export type RunEvent =
  | { type: 'job'; job: JobDetail }
  | { type: 'run'; run: RunRecord }
  | { type: 'state'; frame: StateFrame }
  | { type: 'points'; frame: PointsFrame }
  | { type: 'line'; line: LogLine }
  /** The stream is interrupted for this reason; null: it flows again. */
  | { type: 'gap'; stream: Stream; reason: string | null }

export type Run = {
  run_id: string
  short_id: string
  name: string | null
  source: string
  state: string
}

const pollMs = 1000
/** How long to wait for the streams to finish after the end is known. */
const drainMs = 10_000
/** After the process has ended, this much silence counts as the end of its streams. */
const quietMs = 1500
const quietPollMs = 300

/** Finds a run by its id or short id. */
export async function findRun(api: Api, id: string): Promise<Run> {
  const job = await api.find<JobDetail>(`/api/jobs/${segment(id)}`)
  if (job) return { ...job, source: 'job' }
  return await api.get<RunRecord>(`/api/runs/${segment(id)}`)
}

export type EventOptions = {
  signal: AbortSignal
  /** Log lines to start with; null: all. */
  tail: number | null
  /** Metrics to report; empty: all. */
  keys: readonly string[]
  /** Wait for the `eof` of the streams, even while the server keeps them open for late output. */
  isExact: boolean
}

/**
 * Yields everything about a run until it has ended and its streams are complete, or until `signal` fires.
 * Broken connections are reported as gaps and reopened; only a final refusal is thrown.
 */
export async function runEvents(
  api: Api,
  run: Run,
  { signal, tail, keys, isExact }: EventOptions,
  emit: (event: RunEvent) => void,
): Promise<void> {
  const news = newsOf()
  const see = (event: RunEvent) => {
    news.note(event)
    emit(event)
  }
  // The record first, because times are shown relative to the run's start.
  await lookIfPossible(api, run, see)
  const stop = new AbortController()
  const either = AbortSignal.any([signal, stop.signal])
  const id = segment(run.run_id)
  const read = (stream: Stream, path: string, take: (event: SseEvent) => void) =>
    readStream({ api, stream, path, signal: either, see }, take)

  const decoded = ({ data }: SseEvent): unknown =>
    isExact ? JSON.parse(data) : harmlessValue(JSON.parse(data))

  const log = read('log', withQuery(`/api/jobs/${id}/logs/stream`, { tail }), event => {
    if (event.event === 'log') see({ type: 'line', line: decoded(event) as LogLine })
  })
  const points = read(
    'metrics',
    withQuery(`/api/runs/${id}/metrics/stream`, { keys: keys.length > 0 ? keys.join(',') : null }),
    event => {
      if (event.event === 'points') see({ type: 'points', frame: decoded(event) as PointsFrame })
    },
  )
  const state = read('state', withQuery('/api/stream', { topics: `job:${run.run_id}` }), event => {
    if (event.event === 'state') see({ type: 'state', frame: decoded(event) as StateFrame })
  })
  const poll = pollUntilEnded(api, run, either, see)

  const drained = Promise.allSettled([log, points])
  try {
    await Promise.race([poll, failing(log), failing(points), failing(state)])
    const isQuiet = () => !isExact && news.isQuiet()
    await Promise.race([
      drained,
      waitUntilQuiet(isQuiet, () => lookIfPossible(api, run, see), either),
    ])
  } finally {
    stop.abort()
    await Promise.allSettled([log, points, state, poll])
  }
  if (!signal.aborted) await look(api, run, see)
}

/** Tracks whether the process has ended and its connected streams are silent. */
function newsOf() {
  let newestMs = performance.now()
  let hasExited = false
  const gaps = new Set<Stream>()
  return {
    note(event: RunEvent) {
      if (event.type === 'job') hasExited = event.job.exit_code !== null
      else if (event.type === 'gap' && event.reason === null) gaps.delete(event.stream)
      else if (event.type === 'gap') gaps.add(event.stream)
      else newestMs = performance.now()
    },
    isQuiet: () => hasExited && gaps.size === 0 && performance.now() - newestMs > quietMs,
  }
}

/** Waits for the streams to finish, within a time limit. */
async function waitUntilQuiet(
  isQuiet: () => boolean,
  lookAgain: () => Promise<unknown>,
  signal: AbortSignal,
): Promise<void> {
  const deadline = performance.now() + drainMs
  while (!signal.aborted && !isQuiet() && performance.now() < deadline) {
    await pause(quietPollMs, signal)
    await lookAgain()
  }
}

/** Never resolves; rejects when the promise does. */
const failing = (promise: Promise<unknown>): Promise<never> =>
  new Promise((_, reject) => void promise.catch(reject))

type Reading = {
  api: Api
  stream: Stream
  path: string
  signal: AbortSignal
  see: (event: RunEvent) => void
}

async function readStream(
  { api, stream, path, signal, see }: Reading,
  take: (event: SseEvent) => void,
): Promise<EofFrame | null> {
  const open = (lastEventId: string | null, until: AbortSignal) =>
    api.open(path, lastEventId === null ? {} : { 'last-event-id': lastEventId }, until)
  const onGap = (reason: string | null) => see({ type: 'gap', stream, reason })
  for await (const event of followStream({ open, signal, onGap })) {
    if (event.event === 'eof') return JSON.parse(event.data) as EofFrame
    take(event)
  }
  return null
}

/** Polls phase, progress and state times, which no stream carries. */
async function pollUntilEnded(
  api: Api,
  run: Run,
  signal: AbortSignal,
  see: (event: RunEvent) => void,
): Promise<void> {
  while (!signal.aborted) {
    if (isEnded(await lookIfPossible(api, run, see))) return
    await pause(pollMs, signal)
  }
}

/** The state, or '' if the server is unreachable. */
async function lookIfPossible(api: Api, run: Run, see: (event: RunEvent) => void): Promise<string> {
  try {
    const state = await look(api, run, see)
    see({ type: 'gap', stream: 'state', reason: null })
    return state
  } catch (error) {
    if (!(error instanceof Failure) || error.exitCode !== exitCode.unavailable) throw error
    see({ type: 'gap', stream: 'state', reason: error.message })
    return ''
  }
}

async function look(api: Api, run: Run, see: (event: RunEvent) => void): Promise<string> {
  if (run.source === 'job') {
    const job = await api.get<JobDetail>(`/api/jobs/${segment(run.run_id)}`)
    see({ type: 'job', job })
    return job.state
  }
  const record = await api.get<RunRecord>(`/api/runs/${segment(run.run_id)}`)
  see({ type: 'run', run: record })
  return record.state
}
