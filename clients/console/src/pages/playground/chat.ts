import { frameOf } from '../../live/frames.ts'
import { belowBasePath } from '../../session/base-path.ts'
import { accepted, authorized } from '../../session/session.ts'

export type Message = { role: 'user' | 'assistant'; content: string }
export type Sampling = { seed: number; max_tokens: number; temperature: number }
/** `ttftMs`: until the first token; null before it. */
export type Reply = { text: string; ttftMs: number | null; tokensPerS: number | null }

type Asked = Sampling & { model: string; messages: readonly Message[]; signal: AbortSignal }
type Chunk = {
  choices?: { delta?: { content?: string | null }; message?: { content?: string | null } }[]
  usage?: { completion_tokens?: number } | null
}

/** Asks the engine of a session, and reports the reply as it grows. */
export async function ask(
  baseUrl: string,
  { signal, ...asked }: Asked,
  onReply: (reply: Reply) => void,
): Promise<Reply> {
  const began = performance.now()
  // The page may be reached by another name than the one in the address.
  const path = `${belowBasePath(new URL(baseUrl).pathname)}/chat/completions`
  const body = { ...asked, stream: true, stream_options: { include_usage: true } }
  const response = await authorized('POST', path, { body, signal })
  if (!response.ok || response.body === null) await accepted(response)
  const reply: Reply = { text: '', ttftMs: null, tokensPerS: null }
  let tokens = 0
  const take = ({ choices, usage }: Chunk) => {
    const [first] = choices ?? []
    const text = first?.delta?.content ?? first?.message?.content ?? ''
    if (text !== '') {
      reply.ttftMs ??= performance.now() - began
      reply.text += text
      tokens += 1
    }
    tokens = usage?.completion_tokens ?? tokens
    const seconds = (performance.now() - began - (reply.ttftMs ?? 0)) / 1000
    reply.tokensPerS = tokens > 1 && seconds > 0 ? tokens / seconds : null
    onReply({ ...reply })
  }
  if (response.headers.get('content-type')?.includes('json')) take((await response.json()) as Chunk)
  else for await (const chunk of chunksOf(response.body as ReadableStream<Uint8Array>)) take(chunk)
  return reply
}

async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Chunk> {
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    text = (text + decoder.decode(value, { stream: true })).replaceAll('\r\n', '\n')
    const frames = text.split('\n\n')
    text = frames.pop() ?? ''
    for (const frame of frames) {
      // The OpenAI API ends its streams with a word that is not JSON.
      if (/^data: ?\[DONE\]/m.test(frame)) return
      const event = frameOf(frame)
      if (event) yield event.data as Chunk
    }
  }
}
