import { createParser } from 'eventsource-parser'
import { exitCode, type Failure } from '../program/failure.ts'
import { pause } from '../program/pause.ts'

export type SseEvent = { id: string | null; event: string; data: string }

export type SseParser = {
  /** Returns the events completed by this chunk; chunks may be cut anywhere. */
  push(text: string): SseEvent[]
  /** Reconnect delay set by the server, in milliseconds; null if none. */
  retryMs(): number | null
}

/** Reads `text/event-stream` (WHATWG HTML, "Server-sent events"). `id` stays in force until the next one. */
export function sseParser(): SseParser {
  let events: SseEvent[] = []
  let lastId: string | null = null
  let retryMs: number | null = null
  const parser = createParser({
    onEvent({ id, event = 'message', data }) {
      lastId = id ?? lastId
      events.push({ id: lastId, event, data })
    },
    onRetry(ms) {
      retryMs = ms
    },
  })
  return {
    push(text) {
      events = []
      parser.feed(text)
      return events
    },
    retryMs: () => retryMs,
  }
}

export type FollowOptions = {
  /** Opens the stream after the given event id; throws a `Failure` if the server refuses. */
  open: (lastEventId: string | null, signal: AbortSignal) => Promise<Response>
  signal: AbortSignal
  /** Called with the reason when the stream breaks, and with null when it resumes. */
  onGap?: (reason: string | null) => void
  /** Silence after which the connection counts as dead; the server sends a comment every 15 s. */
  silenceMs?: number
  /** Longest wait between attempts. */
  maxWaitMs?: number
}

type Position = {
  lastId: string | null
  retryMs: number
  /** Failed attempts since the last data. */
  failures: number
  /** The server sent a 204: nothing more will follow. */
  isOver: boolean
}

/**
 * Every event of a stream, over as many connections as necessary: after each break it reconnects with
 * `Last-Event-ID`, so that nothing is missed or repeated. Ends after `eof`, with a 204, or when `signal` fires;
 * throws only what a retry cannot fix (no such run, signed out).
 */
export async function* followStream(options: FollowOptions): AsyncGenerator<SseEvent> {
  const { signal, onGap = () => {}, maxWaitMs = 3000 } = options
  const position: Position = { lastId: null, retryMs: 1000, failures: 0, isOver: false }
  while (!signal.aborted) {
    const broken = yield* untilBroken(options, position)
    if (broken === null || signal.aborted) return
    onGap(broken)
    position.failures += 1
    await pause(waitMs(position, maxWaitMs), signal)
  }
}

/** The events of one connection. Returns why it broke, or null if the stream is complete. */
async function* untilBroken(
  options: FollowOptions,
  position: Position,
): AsyncGenerator<SseEvent, string | null> {
  try {
    for await (const event of connection(options, position)) {
      position.failures = 0
      position.lastId = event.id ?? position.lastId
      yield event
      if (event.event === 'eof') return null
    }
    return position.isOver ? null : 'the server closed the stream'
  } catch (error) {
    if (options.signal.aborted) return null
    if (isFinal(error)) throw error
    return reasonOf(error)
  }
}

async function* connection(
  { open, signal, onGap = () => {}, silenceMs = 45_000 }: FollowOptions,
  position: Position,
): AsyncGenerator<SseEvent> {
  const silence = new AbortController()
  const tooQuiet = () => silence.abort(new Error(`nothing arrived for ${silenceMs / 1000} s`))
  let timer = setTimeout(tooQuiet, silenceMs)
  try {
    const response = await open(position.lastId, AbortSignal.any([signal, silence.signal]))
    onGap(null)
    if (response.status === 204) {
      position.isOver = true
      return
    }
    const parser = sseParser()
    const decoder = new TextDecoder()
    for await (const bytes of response.body ?? []) {
      clearTimeout(timer)
      timer = setTimeout(tooQuiet, silenceMs)
      yield* parser.push(decoder.decode(bytes, { stream: true }))
      position.retryMs = parser.retryMs() ?? position.retryMs
    }
  } finally {
    clearTimeout(timer)
    silence.abort()
  }
}

/** No wait before the first attempt; half of each wait is random, so that clients do not reconnect in step. */
function waitMs({ failures, retryMs }: Position, maxWaitMs: number): number {
  const wait =
    failures === 1 ? Math.min(250, maxWaitMs) : Math.min(retryMs * 2 ** (failures - 2), maxWaitMs)
  return wait / 2 + (Math.random() * wait) / 2
}

const isFinal = (error: unknown): boolean =>
  error instanceof Error &&
  error.name === 'Failure' &&
  (error as Failure).exitCode !== exitCode.unavailable

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error && error.name !== 'Failure'
    ? error.cause.message || error.message
    : error.message
}
