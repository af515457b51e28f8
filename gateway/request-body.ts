import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { JsonScanner, parsed } from './scan-json.ts'

export class BodyTooLarge extends Error {}

/** The facts about a request in the record of traffic. */
export type Said = { model: string | null; stream: boolean }

/** Longer names are cut in the record, not in the request. */
const maxModel = 256

/**
 * The body of a request on its way to an engine: byte for byte, no faster than the engine takes it. Until its first byte has
 * arrived, nothing of the request has been sent, and it can be recreated for another engine or connection.
 */
export class RequestBody extends Readable {
  readonly #req: IncomingMessage
  readonly #most: number
  readonly #scanner: JsonScanner | null
  #isListening = false
  #began = false
  bytes = 0

  constructor(req: IncomingMessage, { most, scan }: { most: number; scan: boolean }) {
    super({ highWaterMark: 64 * 1024 })
    this.#req = req
    this.#most = most
    this.#scanner = scan ? new JsonScanner(['model', 'stream']) : null
  }

  /** Whether any byte may have gone to an engine. */
  get hasBegun(): boolean {
    return this.#began
  }

  get said(): Said {
    const found = this.#scanner?.found
    const model = parsed(found?.get('model'))
    return {
      model: typeof model === 'string' ? model.slice(0, maxModel) : null,
      stream: parsed(found?.get('stream')) === true,
    }
  }

  override _read(): void {
    if (!this.#isListening) {
      this.#isListening = true
      this.#req
        .on('data', this.#take)
        .on('end', this.#end)
        .on('error', this.#fail)
        .on('close', this.#close)
    }
    this.#req.resume()
  }

  /** Discards the rest of the body, because the connection's next request comes after it. */
  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#req
      .off('data', this.#take)
      .off('end', this.#end)
      .off('error', this.#fail)
      .off('close', this.#close)
    // A body that failed before it began may be sent elsewhere.
    if (this.#began || !error) this.#req.resume()
    else this.#req.pause()
    done(error)
  }

  readonly #end = (): void => {
    this.#began = true
    this.push(null)
  }

  readonly #fail = (error: Error): void => void this.destroy(error)

  readonly #close = (): void => {
    if (!this.#req.complete) this.destroy(new Error('the caller went away'))
  }

  readonly #take = (chunk: Buffer): void => {
    this.#began = true
    this.bytes += chunk.length
    if (this.bytes > this.#most) {
      this.destroy(new BodyTooLarge())
      return
    }
    this.#scanner?.push(chunk)
    if (!this.push(chunk)) this.#req.pause()
  }
}

/** Whether a request has a body (RFC 9112, 6.3). */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** Whether its body is JSON that can be read in passing. */
export const isJson = ({ headers }: IncomingMessage): boolean =>
  /^application\/([\w.-]+\+)?json\b/i.test(headers['content-type'] ?? '') &&
  headers['content-encoding'] === undefined
