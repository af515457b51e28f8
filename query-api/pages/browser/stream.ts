import { ApiFailure, authorization } from './api.ts'

export type StreamEvent = { id: string; event: string; data: unknown }

export type Follow = {
  onEvent: (event: StreamEvent) => void
  /** `true` while connected. */
  onLive: (isLive: boolean) => void
}

const firstRetryMs = 500
const maxRetryMs = 10_000

type Place = { lastId: string | null }

/**
 * Follows a stream until its `eof` over any number of connections. Each continues after the last id, so nothing
 * is missed or seen twice. (EventSource cannot send the access token.)
 */
export async function follow(path: string, { onEvent, onLive }: Follow): Promise<void> {
  const place: Place = { lastId: null }
  let retryMs = firstRetryMs
  const connected = (isLive: boolean) => {
    if (isLive) retryMs = firstRetryMs
    onLive(isLive)
  }
  while (!(await readOnce(path, place, { onEvent, onLive: connected }))) {
    onLive(false)
    await new Promise(resolve => setTimeout(resolve, retryMs))
    retryMs = Math.min(maxRetryMs, retryMs * 2)
  }
}

/** One connection; returns whether the stream is complete. Throws if a retry cannot help. */
async function readOnce(path: string, place: Place, { onEvent, onLive }: Follow): Promise<boolean> {
  try {
    const body = await connect(path, place)
    if (!body) return true
    onLive(true)
    for await (const event of eventsOf(body)) {
      place.lastId = event.id
      onEvent(event)
      if (event.event === 'eof') return true
    }
  } catch (error) {
    if (error instanceof ApiFailure && error.status < 500 && error.status !== 429) throw error
  }
  return false
}

/** Null if the stream had already been read to its end (204). */
async function connect(
  path: string,
  { lastId }: Place,
): Promise<ReadableStream<Uint8Array> | null> {
  const response = await fetch(path, {
    headers: { ...authorization(), ...(lastId !== null && { 'last-event-id': lastId }) },
  })
  if (response.status === 204) return null
  if (!response.ok || !response.body)
    throw new ApiFailure(response.status, `HTTP ${response.status}`)
  return response.body
}

async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true })
    const frames = text.split('\n\n')
    text = frames.pop() ?? ''
    for (const frame of frames) {
      const event = parseFrame(frame)
      if (event) yield event
    }
  }
}

/** Null for a frame without data: a comment or `retry`. */
function parseFrame(frame: string): StreamEvent | null {
  const fields = new Map<string, string>()
  for (const line of frame.split('\n')) {
    const [, name, value] = /^([a-z]+): ?(.*)$/.exec(line) ?? []
    if (name) fields.set(name, fields.has(name) ? `${fields.get(name)}\n${value}` : String(value))
  }
  const data = fields.get('data')
  if (data === undefined) return null
  return {
    id: fields.get('id') ?? '',
    event: fields.get('event') ?? 'message',
    data: JSON.parse(data),
  }
}
