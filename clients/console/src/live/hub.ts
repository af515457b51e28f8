import { queries } from '../session/api.ts'
import { SignedOut } from '../session/failure.ts'
import { accepted, authorized, isAnswering, session, standing } from '../session/session.ts'
import { createStore } from '../session/store.ts'
import { eventsOf, type StreamEvent } from './frames.ts'

/** `since`: when the last message arrived, in milliseconds of the epoch. */
export type Liveness =
  | { state: 'idle' }
  | { state: 'connecting' }
  | { state: 'live' }
  | { state: 'reconnecting'; since: number }

export const liveness = createStore<Liveness>({ state: 'idle' })

export type Listener = {
  onEvent: (event: StreamEvent) => void
  /** Something may have been missed: read again. */
  onGap: () => void
}

const listening = new Map<string, Set<Listener>>()
const regroupMs = 30
/** A page reads its data first, for as long as that takes within these limits. */
const first = { leastMs: 150, mostMs: 400 }
/** By then the server follows the topics: changes from before that are read again. */
const gapMs = 500
const lookMs = 30
const retryMs = { first: 500, most: 10_000 }
/** A stream sends something every 15 s; one that is silent for longer is dead, even if the server answers. */
const silentMs = 40_000
/** After this long without a message the server is asked whether it is still there. */
const quietMs = 2_000

let current: AbortController | null = null
let regrouping: ReturnType<typeof setTimeout> | null = null
let wasOpen = false

/** Follows a topic of `/api/stream`. All topics of a tab share one connection. */
export function follow(topic: string, listener: Listener): () => void {
  const known = listening.get(topic)
  if (known) known.add(listener)
  else {
    listening.set(topic, new Set([listener]))
    regroup()
  }
  return () => {
    const left = listening.get(topic)
    left?.delete(listener)
    if (left?.size !== 0) return
    listening.delete(topic)
    regroup()
  }
}

/** A hidden tab holds no connection: browsers open six to a server, for all tabs together. */
document.addEventListener('visibilitychange', regroup)
// Signing in again resumes the stream; people who may do nothing yet have none.
session.subscribe(regroup)
standing.subscribe(regroup)

function regroup(): void {
  if (regrouping !== null) clearTimeout(regrouping)
  // Topics are collected until then, so that the first connection has all topics of the page.
  const begin = () => {
    regrouping = null
    current?.abort()
    current = null
    const isAllowed = session.get().state === 'signed-in' && standing.get() === 'full'
    if (listening.size === 0 || document.hidden || !isAllowed)
      return liveness.set({ state: 'idle' })
    current = new AbortController()
    wasOpen = true
    void keepOpen([...listening.keys()].sort(), current.signal)
  }
  if (wasOpen) regrouping = setTimeout(begin, regroupMs)
  else
    whenRead(first, begin, timer => {
      regrouping = timer
    })
}

/** Once nothing is being read, or after the longest wait. */
function whenRead(
  { leastMs, mostMs }: { leastMs: number; mostMs: number },
  act: () => void,
  keep: (timer: ReturnType<typeof setTimeout>) => void,
): void {
  const begunAt = Date.now()
  const look = () => {
    if (queries.isFetching() > 0 && Date.now() - begunAt < mostMs) keep(setTimeout(look, lookMs))
    else act()
  }
  keep(setTimeout(look, leastMs))
}

async function keepOpen(topics: readonly string[], signal: AbortSignal): Promise<void> {
  let failures = 0
  let lastId: string | null = null
  liveness.set({ state: 'connecting' })
  const connection = {
    opened: () => {
      failures = 0
      liveness.set({ state: 'live' })
      // With a last event it resumes from there.
      if (lastId === null) sayGap(signal)
    },
    took: (id: string) => {
      lastId = id
    },
  }
  while (!signal.aborted) {
    const isOver = await readOnce(topics, { lastId, signal, ...connection })
    if (isOver || signal.aborted) return
    const now = liveness.get()
    if (now.state !== 'reconnecting') liveness.set({ state: 'reconnecting', since: Date.now() })
    await pause(Math.min(retryMs.most, retryMs.first * 2 ** failures++), signal)
  }
}

/** No event reports changes from before the stream began. */
function sayGap(signal: AbortSignal): void {
  setTimeout(() => {
    if (!signal.aborted) for (const listener of all()) listener.onGap()
  }, gapMs)
}

type Connection = {
  lastId: string | null
  signal: AbortSignal
  opened: () => void
  took: (id: string) => void
}

/** One connection. Returns true when nothing is left to follow. */
async function readOnce(topics: readonly string[], at: Connection): Promise<boolean> {
  const silence = new AbortController()
  let timer = setTimeout(() => silence.abort(), silentMs)
  const quiet = whenQuiet(() => silence.abort())
  try {
    const response = await authorized(
      'GET',
      `/api/stream?topics=${encodeURIComponent(topics.join(','))}`,
      {
        signal: AbortSignal.any([at.signal, silence.signal]),
        ...(at.lastId !== null && { headers: { 'last-event-id': at.lastId } }),
      },
    )
    if (response.status === 204) return true
    if (!response.ok || !response.body) {
      await accepted(response)
      return true
    }
    at.opened()
    quiet.restart()
    for await (const event of eventsOf(
      noticing(response.body, () => {
        clearTimeout(timer)
        timer = setTimeout(() => silence.abort(), silentMs)
        quiet.restart()
      }),
    )) {
      at.took(event.id)
      tell(event)
    }
    return false
  } catch (error) {
    // A topic may be refused because its run was deleted; the page that follows it says so, and stops following.
    return error instanceof SignedOut
  } finally {
    clearTimeout(timer)
    quiet.end()
  }
}

/** Asks again and again, while nothing is heard, whether the server still answers. */
function whenQuiet(onAway: () => void) {
  let timer: ReturnType<typeof setTimeout>
  let isOver = false
  const restart = () => {
    clearTimeout(timer)
    if (isOver) return
    timer = setTimeout(async () => {
      if (await isAnswering()) restart()
      else if (!isOver) onAway()
    }, quietMs)
  }
  const end = () => {
    isOver = true
    clearTimeout(timer)
  }
  return { restart, end }
}

const noticing = (body: ReadableStream<Uint8Array>, onChunk: () => void) =>
  body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        onChunk()
        controller.enqueue(chunk)
      },
    }),
  )

const all = (): Listener[] => [...new Set([...listening.values()].flatMap(set => [...set]))]

/** The topics that the frequent events belong to; all other events go to every follower. */
const topicsOf: Readonly<Record<string, string>> = { points: 'metrics:', log: 'logs:' }

function tell(event: StreamEvent): void {
  const prefix = topicsOf[event.event] ?? ''
  for (const [topic, listeners] of listening)
    for (const listener of topic.startsWith(prefix) ? [...listeners] : [])
      try {
        listener.onEvent(event)
      } catch (error) {
        reportError(error)
      }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
