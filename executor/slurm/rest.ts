import { type IncomingMessage, request as plain } from 'node:http'
import { request as secure } from 'node:https'

export type RestOptions = {
  /** The address of slurmrestd, e.g. `http://head:6820`. */
  url: string
  user: string
  /** A token of that user; asked for at each call, because it expires. */
  token: () => Promise<string>
  /** For one call, response included. */
  deadlineMs?: number
  /** A longer response is an error. */
  maxBytes?: number
}

export type Rest = (
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: unknown,
) => Promise<unknown>

/** Slurm refused, or there was no usable response. */
export class SlurmFault extends Error {
  /** Slurm's own error number; null if slurmrestd gave none: whether Slurm acted is then unknown. */
  readonly number: number | null
  readonly status: number | null
  /** The response that contained the error. */
  readonly body: unknown
  constructor(message: string, { number = null, status = null, body, cause }: Origin = {}) {
    super(message, { cause })
    this.name = 'SlurmFault'
    this.number = number
    this.status = status
    this.body = body
  }
}

type Origin = { number?: number | null; status?: number | null; body?: unknown; cause?: unknown }

const usual = { deadlineMs: 10_000, maxBytes: 128 * 1024 * 1024 }

/** Calls slurmrestd. Throws `SlurmFault`, whatever goes wrong. */
export const createRest = (options: RestOptions): Rest => {
  const { url, user, token, deadlineMs, maxBytes } = { ...usual, ...options }
  return async (method, path, body) => {
    const headers = { 'X-SLURM-USER-NAME': user, 'X-SLURM-USER-TOKEN': await token() }
    const text = body === undefined ? undefined : JSON.stringify(body)
    const response = await exchange(new URL(path, url), {
      method,
      headers,
      text,
      signal: AbortSignal.timeout(deadlineMs),
      maxBytes,
    }).catch(error => {
      throw away(url, error)
    })
    return resultOf(response)
  }
}

function away(url: string, error: unknown): SlurmFault {
  const why = error instanceof Error ? error.message : String(error)
  const late = error instanceof Error && error.name === 'TimeoutError'
  return new SlurmFault(
    `Slurm cannot be reached at ${url}: ${late ? 'no response in time' : why}`,
    { cause: error },
  )
}

type Asked = {
  method: string
  headers: Record<string, string>
  text: string | undefined
  signal: AbortSignal
  maxBytes: number
}

type Response = { status: number; text: string }

/** A connection for each call: slurmrestd closes idle ones without notice. */
async function exchange(
  url: URL,
  { method, headers, text, signal, maxBytes }: Asked,
): Promise<Response> {
  const open = url.protocol === 'https:' ? secure : plain
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const asked = open(url, {
      method,
      signal,
      agent: false,
      headers: {
        ...headers,
        Accept: 'application/json',
        ...(text !== undefined && {
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(text),
        }),
      },
    })
    asked.once('response', resolve)
    asked.once('error', error => reject(signal.aborted ? signal.reason : error))
    asked.end(text)
  })
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of response) {
    length += piece.length
    if (length > maxBytes) {
      response.destroy()
      throw new Error(`a response of more than ${maxBytes} bytes`)
    }
    pieces.push(piece)
  }
  return { status: response.statusCode ?? 0, text: Buffer.concat(pieces).toString('utf8') }
}

/** Slurm's errors decide, not the status: a token that it refuses is a 500 of some versions and a 401 of others. */
function resultOf({ status, text }: Response): unknown {
  const body = parsed(text)
  const fault = faultIn(body)
  if (fault) throw new SlurmFault(fault.message, { number: fault.number, status, body })
  if (status === 401 || status === 403)
    throw new SlurmFault(`Slurm refused the token (status ${status})`, { status })
  if (status < 200 || status >= 300 || body === undefined)
    throw new SlurmFault(`slurmrestd returned status ${status}: ${text.slice(0, 300).trim()}`, {
      status,
    })
  return body
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

type Fault = { number: number | null; message: string }

function faultIn(body: unknown): Fault | null {
  if (typeof body !== 'object' || body === null || !('errors' in body)) return null
  const errors: unknown[] = Array.isArray(body.errors) ? body.errors : []
  return errors.map(toFault).find(fault => fault !== null && fault.number !== 0) ?? null
}

/** Versions name the number differently. */
function toFault(entry: unknown): Fault | null {
  if (typeof entry !== 'object' || entry === null) return null
  const said: Record<string, unknown> = { ...entry }
  const number = said.error_number ?? said.error_code ?? said.errno
  const words = [said.error, said.description].filter(word => typeof word === 'string' && word)
  const told = [...new Set(words)].join(': ') || 'an error without a message'
  // All that v0.0.38 says of both.
  const hint = number === -1 ? ': its controller does not respond, or refuses the token' : ''
  return typeof number === 'number'
    ? { number, message: `Slurm: ${told} (${number})${hint}` }
    : { number: null, message: `Slurm: ${told}` }
}
