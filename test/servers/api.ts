import { patient } from './patience.ts'

/** The administrator of every server that tests and measurements start. */
export const adminPassword = 'correct horse battery'

/** The password of a person whom a test creates: a generated one would have to be replaced first. */
export const passwordOf = (username: string): string => `a password of the tests for ${username}`

export type CallOptions = {
  /** Text is sent unchanged. */
  body?: unknown
  /** No header where it is null. */
  token?: string | null
  headers?: Record<string, string>
}

/** `body` is the parsed JSON, or the text of a body that is not JSON; the caller names the expected type. */
export type Reply<T> = { status: number; headers: Headers; body: T }

const withinMs = patient(60_000)

/** Calls the API, and returns the reply whatever its status. */
export async function callApi<T>(
  url: string,
  method: string,
  path: string,
  { token, body, headers }: CallOptions = {},
): Promise<Reply<T>> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(token && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(withinMs),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') === true
  return {
    status: response.status,
    headers: response.headers,
    body: isJson && text !== '' ? JSON.parse(text) : text,
  }
}

/** A reply other than the one the caller needs. */
export class ApiError extends Error {
  readonly status: number
  constructor(status: number, what: string, body: string) {
    super(`${what}: ${status} ${body.slice(0, 500)}`)
    this.name = 'ApiError'
    this.status = status
  }
}

/** Calls the API and returns the body; any status but 2xx is thrown as an `ApiError`. */
export async function askApi<T>(
  url: string,
  method: string,
  path: string,
  options?: CallOptions,
): Promise<T> {
  const { status, body } = await callApi<T>(url, method, path, options)
  if (status >= 300) throw new ApiError(status, `${method} ${path}`, JSON.stringify(body))
  return body
}

/** The access token of a new session. */
export async function signIn(
  url: string,
  username = 'admin',
  password = adminPassword,
): Promise<string> {
  const body = { username, password }
  return (await askApi<{ token: string }>(url, 'POST', '/api/auth/login', { body })).token
}
