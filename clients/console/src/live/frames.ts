export type StreamEvent = { id: string; event: string; data: unknown }

/** The events of a response of server-sent events (contract 4.8), however it is chunked. */
export async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent> {
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let text = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      text += decoder.decode(value, { stream: true })
      const frames = text.split('\n\n')
      text = frames.pop() ?? ''
      for (const frame of frames) {
        const event = frameOf(frame)
        if (event) yield event
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

/** Null for a frame without data: a comment or `retry`. */
export function frameOf(frame: string): StreamEvent | null {
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
