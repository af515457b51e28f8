/** One server-sent event. */
export type StreamEvent = { id: string; event: string; data: Record<string, unknown> }

export type Connection = {
  status: number
  headers: Headers
  /** The next event; null when the server has closed the stream. */
  next(): Promise<StreamEvent | null>
  /** Everything except events: comments and `retry:`. */
  notes: string[]
  cut(): void
}

/** Opens a stream as a browser's EventSource would, and parses it. */
export async function connect(
  url: string,
  token: string,
  lastEventId?: string,
): Promise<Connection> {
  const abort = new AbortController()
  const response = await fetch(url, {
    signal: abort.signal,
    headers: {
      accept: 'text/event-stream',
      authorization: `Bearer ${token}`,
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
    },
  })
  const notes: string[] = []
  const events = parse(response, notes)
  return {
    status: response.status,
    headers: response.headers,
    notes,
    next: async () => (await events.next()).value ?? null,
    cut: () => abort.abort(),
  }
}

/** The next events, `count` of them or those until the server closes. */
export async function take(stream: Connection, count: number): Promise<StreamEvent[]> {
  const events: StreamEvent[] = []
  while (events.length < count) {
    const event = await stream.next()
    if (event === null) break
    events.push(event)
  }
  return events
}

async function* parse(response: Response, notes: string[]): AsyncGenerator<StreamEvent> {
  if (!response.body) return
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body) {
    text += decoder.decode(chunk, { stream: true })
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1]
      const [id, event, data] = [field('id'), field('event'), field('data')]
      if (id !== undefined && event !== undefined && data !== undefined)
        yield { id, event, data: JSON.parse(data) }
      else notes.push(block)
    }
  }
}
