import { randomUUID } from 'node:crypto'
import { exitCode, Failure, failureOfAnswer } from '../program/failure.ts'
import { pause } from '../program/pause.ts'
import { harmlessValue } from '../terminal/harmless.ts'
import { addressAt } from './address.ts'
import { confirmed, type Proof } from './confirmed.ts'
import { notForge, unreachable } from './unreachable.ts'

export type Query = Record<string, string | number | boolean | null | undefined>

/** A client of one server for one person. Refusals are thrown as a `Failure`. */
export type Api = {
  host: string
  isSignedIn: boolean
  /** `T` is the documented response of that path; responses are not validated. */
  get<T>(path: string, query?: Query, options?: GetOptions): Promise<T>
  /** Like `get`, but null for a 404. */
  find<T>(path: string, query?: Query): Promise<T | null>
  post<T>(path: string, body: unknown, options?: PostOptions): Promise<T>
  put<T>(path: string, body: unknown): Promise<T>
  patch<T>(path: string, body: unknown): Promise<T>
  delete<T>(path: string): Promise<T>
  /** Sends bytes to an address that the server gave out, which needs no token; repeating it is the caller's decision. */
  send<T>(url: string, headers: Record<string, string>, bytes: Uint8Array): Promise<T>
  /** The response as a stream; with a body it is asked for by `POST`. */
  open(
    path: string,
    headers: Record<string, string>,
    signal: AbortSignal,
    body?: unknown,
  ): Promise<Response>
}

type GetOptions = {
  /** Time-out for slow requests. */
  withinMs?: number
  /** Texts as the server sent them, with control characters. */
  isExact?: boolean
  /** Called with the `Link` of the response, null without one. */
  onLink?: (link: string | null) => void
}

type PostOptions = {
  /** A creating request: retried after an unknown outcome, with the same `Idempotency-Key`. */
  creates?: boolean
  headers?: Record<string, string>
}

export type ApiOptions = {
  host: string
  token: string | null
  userAgent: string
  /** Called with the reason once a request takes longer than two seconds. */
  onSlow: (reason: string) => void
  /** Whether texts pass as the server sent them, for `--json`; otherwise they are made harmless for a terminal. */
  isExact?: boolean
  /** A token to use instead of one that was refused; null if there is none. */
  renew?: (refused: string) => Promise<string | null>
  /** Asks for the password when a request needs a recent sign-in; missing or null if nobody can be asked. */
  askPassword?: (() => Promise<string>) | null
  /** Asks for the code of a second factor, after the password. */
  askCode?: () => Promise<string>
  /** Called with the `name=value` and the attributes of each cookie. */
  onCookie?: (cookie: string) => void
}

const slowMs = 2000
const timeoutMs = 30_000
const maxAttempts = 4

type Outgoing = { method: string; path: string; body?: unknown; headers?: Record<string, string> }

const noCode = () => Promise.reject(new Error('Nobody can be asked for a code'))

export function createApi(options: ApiOptions): Api {
  const { host, onSlow, askPassword = null, askCode = noCode } = options
  const send = sender(options)
  const signedInAt = options.token === null ? null : host

  const askOnce = async (
    outgoing: Outgoing,
    { withinMs = timeoutMs, isExact = options.isExact === true, onLink }: GetOptions = {},
  ): Promise<unknown> => {
    const began = performance.now()
    const slow = setInterval(() => {
      const seconds = Math.round((performance.now() - began) / 1000)
      onSlow(`waiting ${seconds} s for ${host} to respond to ${outgoing.method} ${outgoing.path}`)
    }, slowMs)
    try {
      const response = await sendUntilCaughtUp(() => send(outgoing, AbortSignal.timeout(withinMs)))
      const body = await bodyOf(response, isExact).catch(error => {
        throw unreachable(host, error, timeoutMs)
      })
      if (!response.ok) throw refusal(response, body, signedInAt)
      if (typeof body === 'string') throw notForge(host)
      onLink?.(response.headers.get('link'))
      return body
    } finally {
      clearInterval(slow)
    }
  }
  const confirm = (body: Proof) => askOnce({ method: 'POST', path: '/api/auth/confirm', body })
  const ask = (outgoing: Outgoing, how: GetOptions = {}): Promise<unknown> =>
    confirmed(() => askOnce(outgoing, how), { host, askPassword, askCode, confirm })

  return {
    host,
    isSignedIn: options.token !== null,
    get: async <T>(path: string, query: Query = {}, how: GetOptions = {}) =>
      (await ask({ method: 'GET', path: withQuery(path, query) }, how)) as T,
    find: async <T>(path: string, query: Query = {}) => {
      try {
        return (await ask({ method: 'GET', path: withQuery(path, query) })) as T
      } catch (error) {
        if (error instanceof Failure && error.fields.status === 404) return null
        throw error
      }
    },
    post: async <T>(
      path: string,
      body: unknown,
      { creates = false, headers = {} }: PostOptions = {},
    ) => {
      const outgoing = { method: 'POST', path, body, headers }
      return (await (creates ? askUntilKnown(ask, outgoing, onSlow) : ask(outgoing))) as T
    },
    put: async <T>(path: string, body: unknown) => (await ask({ method: 'PUT', path, body })) as T,
    patch: async <T>(path: string, body: unknown) =>
      (await ask({ method: 'PATCH', path, body })) as T,
    delete: async <T>(path: string) => (await ask({ method: 'DELETE', path })) as T,
    send: async <T>(url: string, headers: Record<string, string>, bytes: Uint8Array) =>
      (await sendBytes(options, url, { headers, bytes })) as T,
    async open(path, headers, signal, asked) {
      const method = asked === undefined ? 'GET' : 'POST'
      const response = await send(
        { method, path, body: asked, headers: { accept: 'text/event-stream', ...headers } },
        signal,
      )
      if (!response.ok) {
        const body = await bodyOf(response, options.isExact === true)
        throw refusal(response, body, signedInAt)
      }
      return response
    },
  }
}

type SendRequest = (outgoing: Outgoing, signal: AbortSignal) => Promise<Response>

/** Sends requests with the token; a refused token is renewed once, which repeats a request that had no effect. */
function sender({ host, token: given, userAgent, renew, onCookie }: ApiOptions): SendRequest {
  let token = given
  const send: SendRequest = (outgoing, signal) =>
    fetch(`${host}${outgoing.path}`, {
      method: outgoing.method,
      headers: {
        accept: 'application/json',
        'user-agent': userAgent,
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...(outgoing.body !== undefined && { 'content-type': 'application/json' }),
        ...outgoing.headers,
      },
      ...(outgoing.body !== undefined && { body: JSON.stringify(outgoing.body) }),
      signal,
    }).catch(error => {
      throw unreachable(host, error, timeoutMs)
    })
  return async (outgoing, signal) => {
    const used = token
    let response = await send(outgoing, signal)
    if (response.status === 401 && used !== null && renew && !(await isWrongPassword(response))) {
      // Another request of this process may have renewed it meanwhile.
      const next = token === used ? await renew(used) : token
      if (next !== null) {
        token = next
        await response.body?.cancel()
        response = await send(outgoing, signal)
      }
    }
    for (const cookie of response.headers.getSetCookie()) onCookie?.(cookie)
    return response
  }
}

/** How long one piece of a file may take. */
const bytesTimeoutMs = 150_000

async function sendBytes(
  { host, userAgent, isExact }: ApiOptions,
  url: string,
  { headers, bytes }: { headers: Record<string, string>; bytes: Uint8Array },
): Promise<unknown> {
  const response = await fetch(addressAt(host, url), {
    method: 'PUT',
    headers: { accept: 'application/json', 'user-agent': userAgent, ...headers },
    body: bytes as Uint8Array<ArrayBuffer>,
    signal: AbortSignal.timeout(bytesTimeoutMs),
  }).catch(error => {
    throw unreachable(host, error, bytesTimeoutMs)
  })
  const body = await bodyOf(response, isExact === true).catch(error => {
    throw unreachable(host, error, bytesTimeoutMs)
  })
  if (!response.ok) throw refusal(response, body, null)
  return body
}

/** A 401 about the password in the body of the request; the token is fine. */
const wrongPassword = 'password.wrong'

async function isWrongPassword(response: Response): Promise<boolean> {
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => null)
  return typeof body === 'object' && body !== null && 'code' in body && body.code === wrongPassword
}

/** Maximum tries of a read that lags behind; each waits up to 2 s on the server. */
const maxLooks = 5

/** Retries a 404 that has `Forge-Lag`: the read model may not show the write yet. */
async function sendUntilCaughtUp(send: () => Promise<Response>): Promise<Response> {
  for (let look = 1; ; look++) {
    const response = await send()
    const isBehind = response.status === 404 && response.headers.has('forge-lag')
    if (!isBehind || look === maxLooks) return response
    await response.body?.cancel()
  }
}

function refusal(response: Response, body: unknown, signedInAt: string | null): Failure {
  const failure = failureOfAnswer(response.status, body, response.headers.get('x-request-id'))
  if (response.status !== 401 || signedInAt === null || failure.fields.code === wrongPassword)
    return failure
  const lines = [`hint: forge login --host ${signedInAt}`]
  return new Failure(failure.exitCode, failure.message, {
    lines: [...lines, ...failure.lines],
    fields: failure.fields,
  })
}

/** One `Idempotency-Key` for all attempts, so that an attempt whose response was lost creates nothing twice. */
async function askUntilKnown(
  ask: (outgoing: Outgoing) => Promise<unknown>,
  outgoing: Outgoing,
  onSlow: (reason: string) => void,
): Promise<unknown> {
  const headers = { ...outgoing.headers, 'idempotency-key': randomUUID() }
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask({ ...outgoing, headers })
    } catch (error) {
      const isUnknown = error instanceof Failure && error.exitCode === exitCode.unavailable
      // A refused connection means that nothing was created, so it is reported at once.
      if (!isUnknown || error.fields.reason === 'ECONNREFUSED' || attempt === maxAttempts)
        throw error
      onSlow(`${error.message}; trying again`)
      await pause(250 * 2 ** attempt * (0.5 + Math.random() / 2))
    }
  }
}

async function bodyOf(response: Response, isExact: boolean): Promise<unknown> {
  const text = await response.text()
  const body = response.headers.get('content-type')?.includes('json') ? parsed(text) : text
  return isExact ? body : harmlessValue(body)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

export function withQuery(path: string, query: Query): string {
  const entries = Object.entries(query).filter(([, value]) => value !== null && value !== undefined)
  if (entries.length === 0) return path
  return `${path}?${new URLSearchParams(entries.map(([key, value]) => [key, String(value)]))}`
}

/** Escapes a path segment. */
export const segment = (text: string) => encodeURIComponent(text)
