import { encodedCopy } from './encoded-copy.ts'
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
  /** Whether the engine reported an error in a response that began as a success. */
  hasFailed(): boolean
  usage(): Usage
}

const nothing: Usage = { prompt_tokens: null, completion_tokens: null, usage_source: 'none' }
const unread = { isDone: () => false, hasFailed: () => false, usage: () => nothing }

/** By type and encoding of the response. */
export function usageReader(contentType: string, contentEncoding: string): UsageReader {
  const reader = readerOf(contentType)
  const encoding = contentEncoding.trim().toLowerCase()
  if (!reader) return { push() {}, ...unread }
  return encoding === '' || encoding === 'identity' ? reader : ofCopy(reader, encoding)
}

function readerOf(contentType: string): UsageReader | null {
  if (/^text\/event-stream\b/i.test(contentType)) return ofStream()
  return /^application\/([\w.-]+\+)?json\b/i.test(contentType) ? ofDocument() : null
}

/** Compressed responses pass unchanged; a copy is expanded after their end. */
function ofCopy(reader: UsageReader, encoding: string): UsageReader {
  const copy = encodedCopy(encoding)
  const read = () => {
    const plain = copy?.take()
    if (plain) reader.push(plain)
    return reader
  }
  return {
    push: chunk => copy?.push(chunk),
    // Known too late to matter.
    isDone: () => false,
    hasFailed: () => read().hasFailed(),
    usage: () => read().usage(),
  }
}

/** Where engines report usage and errors: the APIs for chat, completions and responses of OpenAI, and messages of Anthropic. */
const wanted = [
  ...(['usage', 'error', 'type', 'response.usage', 'response.error', 'message.usage'] as const),
]

function ofDocument(): UsageReader {
  const scanner = new JsonScanner(wanted)
  return {
    push: chunk => scanner.push(chunk),
    isDone: () => false,
    hasFailed: () => isFailure(scannedBy(scanner)),
    usage: () => usageIn(scannedBy(scanner), null) ?? nothing,
  }
}

/** The longest line of a stream that is kept, in bytes; longer ones are scanned while they pass. */
const maxLine = 64 * 1024
const lineFeed = 0x0a
/** Events that end a stream without `[DONE]`. */
const lastEvents = /^event: ?(message_stop|response\.(completed|incomplete|failed))\s*$/
/** A piece of text, of a thought or of arguments. */
const piece = /"(content|text|reasoning_content|delta|thinking|partial_json)"\s*:\s*"(?!")/

/** Reads the lines of server-sent events. */
class StreamReader implements UsageReader {
  #line: Uint8Array[] = []
  #size = 0
  /** Reads a line that is too long to be kept. */
  #scanner: JsonScanner | null = null
  #isLastEvent = false
  #pieces = 0
  #isDone = false
  #hasFailed = false
  #usage: Usage | null = null

  push(chunk: Uint8Array): void {
    for (let from = 0; from < chunk.length; ) {
      const at = chunk.indexOf(lineFeed, from)
      this.#take(chunk.subarray(from, at === -1 ? chunk.length : at))
      if (at === -1) return
      this.#endLine()
      from = at + 1
    }
  }

  isDone(): boolean {
    return this.#isDone
  }

  hasFailed(): boolean {
    return this.#hasFailed
  }

  usage(): Usage {
    if (this.#usage) return this.#usage
    if (this.#pieces === 0) return nothing
    return { prompt_tokens: null, completion_tokens: this.#pieces, usage_source: 'estimated' }
  }

  #take(part: Uint8Array): void {
    this.#size += part.length
    if (this.#scanner) this.#scanner.push(part)
    else {
      this.#line.push(part)
      if (this.#size > maxLine) this.#scan()
    }
  }

  #scan(): void {
    const start = Buffer.concat(this.#line)
    this.#line = []
    this.#scanner = new JsonScanner(wanted)
    if (isData(start)) this.#scanner.push(start.subarray(5))
  }

  #endLine(): void {
    if (this.#scanner) this.#found(scannedBy(this.#scanner))
    else if (this.#size > 0) this.#read(Buffer.concat(this.#line).toString('utf8'))
    this.#line = []
    this.#size = 0
    this.#scanner = null
  }

  #read(line: string): void {
    if (line.startsWith('event:')) {
      this.#isLastEvent = lastEvents.test(line)
      return
    }
    if (!line.startsWith('data:')) return
    const data = line.slice(5).trim()
    // Parsing each piece would cost more than passing it on.
    if (data.includes('"usage"') || data.includes('"error"')) this.#found(saidIn(parsed(data)))
    if (piece.test(data)) this.#pieces++
    if (data === '[DONE]' || this.#isLastEvent) this.#isDone = true
  }

  #found(said: Said): void {
    this.#usage = usageIn(said, this.#usage)
    if (isFailure(said)) this.#hasFailed = true
    if (this.#isLastEvent) this.#isDone = true
  }
}

const ofStream = (): UsageReader => new StreamReader()
const isData = (line: Uint8Array): boolean => Buffer.from(line.subarray(0, 5)).equals(dataPrefix)
const dataPrefix = Buffer.from('data:')

/** What a document or event says, by the names in `wanted`. */
type Said = (name: (typeof wanted)[number]) => unknown

const scannedBy =
  ({ found }: JsonScanner): Said =>
  name =>
    parsed(found.get(name))

const saidIn =
  (value: unknown): Said =>
  name =>
    name.split('.').reduce(fieldOf, value)

/** The usage in one document or event; counts that it lacks are those known before, as messages report each in its own event. */
function usageIn(said: Said, known: Usage | null): Usage | null {
  const value = [said('usage'), said('response.usage'), said('message.usage')].find(isObject)
  const count = (...names: string[]) => countOf(names.map(name => fieldOf(value, name)).find(isSet))
  const prompt_tokens = count('prompt_tokens', 'input_tokens') ?? known?.prompt_tokens ?? null
  const completion_tokens =
    count('completion_tokens', 'output_tokens') ?? known?.completion_tokens ?? null
  if (prompt_tokens === null && completion_tokens === null) return null
  return { prompt_tokens, completion_tokens, usage_source: 'engine' }
}

/** An error is an object or a text; a number, or false, means something else. */
const isFailure = (said: Said): boolean =>
  said('type') === 'error' ||
  [said('error'), said('response.error')].some(
    error => isObject(error) || (typeof error === 'string' && error !== ''),
  )

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null
const isSet = (value: unknown): boolean => value !== undefined && value !== null

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined

/** No request has more tokens; sums of what an engine makes up must fit their columns. */
const mostTokens = 1_000_000_000

const countOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= mostTokens
    ? value
    : null
