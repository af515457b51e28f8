import { JsonScanner, parsed } from './scan-json.ts'

export type Usage = {
  prompt_tokens: number | null
  completion_tokens: number | null
  /** `estimated`: one for each piece of a stream whose usage the engine did not report. */
  usage_source: 'engine' | 'estimated' | 'none'
}

/** Reads the usage of a response while it passes. */
export type UsageReader = {
  push(chunk: Uint8Array): void
  /** Whether the stream has said that it is at its end. */
  isDone(): boolean
  usage(): Usage
}

const nothing: Usage = { prompt_tokens: null, completion_tokens: null, usage_source: 'none' }

/** By type and encoding of the response; compressed responses are not read. */
export function usageReader(contentType: string, contentEncoding: string): UsageReader {
  const isPlain = contentEncoding === '' || contentEncoding === 'identity'
  if (isPlain && /^text\/event-stream\b/i.test(contentType)) return ofStream()
  if (isPlain && /^application\/([\w.-]+\+)?json\b/i.test(contentType)) return ofDocument()
  return { push() {}, isDone: () => false, usage: () => nothing }
}

function ofDocument(): UsageReader {
  const scanner = new JsonScanner(['usage'])
  return {
    push: chunk => scanner.push(chunk),
    isDone: () => false,
    usage: () => told(parsed(scanner.found.get('usage'))) ?? nothing,
  }
}

/** The longest line of a stream that is read, in bytes. */
const maxLine = 64 * 1024
const lineFeed = 0x0a

function ofStream(): UsageReader {
  let line: Uint8Array[] = []
  let size = 0
  let pieces = 0
  let isDone = false
  let usage: Usage | null = null
  const read = (text: string) => {
    if (!text.startsWith('data:')) return
    const data = text.slice(5).trim()
    if (data === '[DONE]') isDone = true
    // Parsing each piece would cost more than passing it on.
    else if (data.includes('"usage"')) usage = told(fieldOf(parsed(data), 'usage')) ?? usage
    if (/"(content|text|reasoning_content)"\s*:\s*"(?!")/.test(data)) pieces++
  }
  const end = () => {
    if (size <= maxLine) read(Buffer.concat(line).toString('utf8'))
    line = []
    size = 0
  }
  return {
    push(chunk) {
      for (let from = 0; from < chunk.length; ) {
        const at = chunk.indexOf(lineFeed, from)
        const piece = chunk.subarray(from, at === -1 ? chunk.length : at)
        size += piece.length
        if (size <= maxLine) line.push(piece)
        if (at === -1) return
        end()
        from = at + 1
      }
    },
    isDone: () => isDone,
    usage: () =>
      usage ??
      (pieces === 0
        ? nothing
        : { prompt_tokens: null, completion_tokens: pieces, usage_source: 'estimated' }),
  }
}

/** Null if it is not what the OpenAI API calls usage. */
function told(value: unknown): Usage | null {
  const prompt_tokens = countOf(fieldOf(value, 'prompt_tokens') ?? fieldOf(value, 'input_tokens'))
  const completion_tokens = countOf(
    fieldOf(value, 'completion_tokens') ?? fieldOf(value, 'output_tokens'),
  )
  if (prompt_tokens === null && completion_tokens === null) return null
  return { prompt_tokens, completion_tokens, usage_source: 'engine' }
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined

/** No request has more tokens; sums of what an engine makes up must fit their columns. */
const mostTokens = 1_000_000_000

const countOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= mostTokens
    ? value
    : null
