import type { Api } from '../api/client.ts'
import { sseParser } from '../api/streams.ts'

/** The figures of one answer; times in ms. */
export type Answered = {
  text: string
  completion_tokens: number
  ttft_ms: number | null
  tokens_per_s: number | null
  aborted: boolean
}

type Chunk = { choices?: { delta?: { content?: string | null } }[]; usage?: Usage | null }
type Usage = { completion_tokens?: number }

export type Question = { path: string; body: object; onPiece: (piece: string) => void }

/** Asks a chat endpoint and passes on each piece as it arrives. Returns the partial answer if `signal` fires. */
export async function streamAnswer(
  api: Api,
  { path, body, onPiece }: Question,
  signal: AbortSignal,
): Promise<Answered> {
  const began = performance.now()
  let firstAt: number | null = null
  let text = ''
  let pieces = 0
  let usage: Usage | null = null
  const take = ({ choices, usage: reported }: Chunk) => {
    usage = reported ?? usage
    const piece = choices?.[0]?.delta?.content ?? ''
    if (piece === '') return
    firstAt ??= performance.now()
    pieces += 1
    text += piece
    onPiece(piece)
  }
  try {
    const asked = { ...body, stream: true, stream_options: { include_usage: true } }
    const response = await api.open(path, {}, signal, asked)
    for await (const data of dataOf(response))
      if (data !== '[DONE]') take(JSON.parse(data) as Chunk)
  } catch (error) {
    if (!signal.aborted) throw error
  }
  const completion_tokens = (usage as Usage | null)?.completion_tokens ?? pieces
  return {
    text,
    completion_tokens,
    ...timesOf(began, firstAt, completion_tokens),
    aborted: signal.aborted,
  }
}

/** Speeds cover the whole answer, as in a deployment's traffic: a short one arrives at once, after its first token. */
function timesOf(began: number, firstAt: number | null, tokens: number) {
  if (firstAt === null) return { ttft_ms: null, tokens_per_s: null }
  const seconds = Math.max(0.001, (performance.now() - began) / 1000)
  return {
    ttft_ms: Math.round(firstAt - began),
    tokens_per_s: Number((tokens / seconds).toFixed(1)),
  }
}

async function* dataOf(response: Response): AsyncGenerator<string> {
  const parser = sseParser()
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? [])
    for (const { data } of parser.push(decoder.decode(chunk as Uint8Array, { stream: true })))
      yield data
}
