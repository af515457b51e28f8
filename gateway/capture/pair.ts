import type { IncomingMessage } from 'node:http'
import type { TrafficRow } from '../../schemas/traffic.ts'
import { type EncodedCopy, encodedCopy } from '../encoded-copy.ts'
import type { ServingMap } from '../map.ts'
import { isJson } from '../request-body.ts'

/** A captured request with its response. */
export type CapturedPair = {
  row: TrafficRow
  request: string
  response: string
  isStream: boolean
}

export type Capture = {
  /** Must not throw: it counts pairs that it cannot keep. */
  keep: (pair: CapturedPair) => void
  /** A pair that is not kept. */
  dropped: (deployment_id: string) => void
}

/** The longest request, and the longest response, that is kept, in bytes. */
export const maxCaptured = 256 * 1024

const captured = /^\/v1\/(chat\/)?completions$/

/** Whether the token captures, and the request is one for chat or completions. */
export const isCaptured = (
  map: Pick<ServingMap, 'captures'>,
  req: IncomingMessage,
  { token_id, path }: { token_id: string; path: string },
): boolean =>
  map.captures(token_id) &&
  req.method === 'POST' &&
  captured.test(path.split('?')[0] ?? '') &&
  isJson(req)

/** Copies a request and its response while they pass, up to a size; nothing waits for it, and it fails nothing. */
export class PairCopy {
  readonly #to: Capture
  #request: Bytes = new Bytes()
  #response: Bytes | EncodedCopy | null = null
  #isStream = false

  constructor(to: Capture) {
    this.#to = to
  }

  /** A request is sent, perhaps again. */
  begins(): void {
    this.#request = new Bytes()
  }

  asks(chunk: Uint8Array): void {
    this.#request.push(chunk)
  }

  answers(contentType: string, contentEncoding: string): void {
    this.#isStream = /^text\/event-stream\b/i.test(contentType)
    const isText = this.#isStream || /^application\/([\w.-]+\+)?json\b/i.test(contentType)
    const encoding = contentEncoding.trim().toLowerCase()
    const isPlain = encoding === '' || encoding === 'identity'
    this.#response = isText ? (isPlain ? new Bytes() : encodedCopy(encoding)) : null
  }

  push(chunk: Uint8Array): void {
    this.#response?.push(chunk)
  }

  /** The exchange is complete. Responses that are not a success are not kept, and not counted either. */
  keep(row: TrafficRow): void {
    if (row.status !== 200 || row.error_source !== null || row.aborted) return
    const request = textOf(this.#request.take())
    const response = textOf(this.#response?.take() ?? null)
    if (request === null || response === null) this.#to.dropped(row.deployment_id)
    else this.#to.keep({ row, request, response, isStream: this.#isStream })
  }
}

/** Null once it is too long. */
class Bytes {
  #chunks: Uint8Array[] | null = []
  #size = 0

  push(chunk: Uint8Array): void {
    this.#size += chunk.length
    if (this.#size > maxCaptured) this.#chunks = null
    else this.#chunks?.push(chunk)
  }

  take(): Buffer | null {
    return this.#chunks && Buffer.concat(this.#chunks)
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Null for bytes that are no UTF-8, or too many once they are expanded. */
function textOf(bytes: Buffer | null): string | null {
  if (bytes === null || bytes.length > maxCaptured) return null
  try {
    return utf8.decode(bytes)
  } catch {
    return null
  }
}
