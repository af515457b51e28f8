import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { JsonScanner, parsed } from './scan-json.ts'

export class BodyTooLarge extends Error {}
export class BodyTooSlow extends Error {}

/** Bounds of a body. */
export type BodyLimits = {
  bytes: number
  /** Milliseconds without a byte, while the engine takes them. */
  silentMs: number
  /** Milliseconds until it has arrived in full, unless the engine has begun to respond. */
  totalMs: number
  /** Milliseconds of a clock that never goes back. */
  clock: () => number
}

/** Receives the bytes of a body from its beginning, perhaps several times. */
export type BodyCopy = { begins(): void; asks(chunk: Uint8Array): void }

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
  readonly #limits: BodyLimits
  #until: number
  #silence: NodeJS.Timeout | null = null
  readonly #scanner: JsonScanner | null
  readonly #pair: BodyCopy | null
  #isListening = false
  #began = false
  bytes = 0

  constructor(req: IncomingMessage, scan: boolean, limits: BodyLimits, pair: BodyCopy | null) {
    super({ highWaterMark: 64 * 1024 })
    this.#req = req
    this.#limits = limits
    this.#until = limits.clock() + limits.totalMs
    this.#pair = pair
    pair?.begins()
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
    this.#silence ??= setTimeout(() => this.#tooSlow(), this.#limits.silentMs)
    this.#req.resume()
  }

  /** The engine has begun to respond, so the rest of the body may take any time. */
  answered(): void {
    this.#until = Number.POSITIVE_INFINITY
  }

  #tooSlow(): void {
    this.destroy(new BodyTooSlow())
  }

  #awaitNothing(): void {
    if (this.#silence) clearTimeout(this.#silence)
    this.#silence = null
  }

  /** Drops the rest of the body, because the connection's next request comes after it. */
  discard(): void {
    this.destroy()
    this.#req.resume()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#awaitNothing()
    this.#req
      .off('data', this.#take)
      .off('end', this.#end)
      .off('error', this.#fail)
      .off('close', this.#close)
    // A body that has not begun may be sent elsewhere.
    if (this.#began) this.#req.resume()
    else this.#req.pause()
    done(error)
  }

  readonly #end = (): void => {
    this.#began = true
    this.#awaitNothing()
    this.push(null)
  }

  readonly #fail = (error: Error): void => void this.destroy(error)

  readonly #close = (): void => {
    if (!this.#req.complete) this.destroy(new Error('the caller went away'))
  }

  readonly #take = (chunk: Buffer): void => {
    this.#began = true
    this.bytes += chunk.length
    if (this.bytes > this.#limits.bytes) {
      this.destroy(new BodyTooLarge())
      return
    }
    if (this.#limits.clock() > this.#until) {
      this.#tooSlow()
      return
    }
    this.#silence?.refresh()
    this.#scanner?.push(chunk)
    this.#pair?.asks(chunk)
    if (this.push(chunk)) return
    this.#req.pause()
    // From now on the engine is waited for, not the caller.
    this.#awaitNothing()
  }
}

/** Whether a request has a body (RFC 9112, 6.3). */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** Whether its body is JSON that can be read in passing. */
export const isJson = ({ headers }: IncomingMessage): boolean =>
  /^application\/([\w.-]+\+)?json\b/i.test(headers['content-type'] ?? '') &&
  headers['content-encoding'] === undefined
