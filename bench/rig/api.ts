import { adminPassword } from './server.ts'

export type ExternalRun = { run_id: string; token: string }

/** An answer of the API that was not what the measurement needs. */
export class ApiError extends Error {
  readonly status: number
  constructor(status: number, what: string, body: string) {
    super(`${what}: ${status} ${body.slice(0, 500)}`)
    this.name = 'ApiError'
    this.status = status
  }
}

export type Call = { token?: string; body?: unknown; headers?: Record<string, string> }

/** Calls the API and answers its JSON; any status but 2xx is thrown as an `ApiError`. */
export async function callApi<T>(
  url: string,
  method: string,
  path: string,
  { token, body, headers }: Call = {},
): Promise<T> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  })
  const text = await response.text()
  if (!response.ok) throw new ApiError(response.status, `${method} ${path}`, text)
  return JSON.parse(text) as T
}

/** Signs in as the administrator whom the first start made; answers the access token. */
export async function signIn(url: string): Promise<string> {
  const body = { username: 'admin', password: adminPassword }
  return (await callApi<{ token: string }>(url, 'POST', '/api/auth/login', { body })).token
}

/** Creates `count` external runs of one project, a few at a time. */
export async function createRuns(
  url: string,
  token: string,
  project: string,
  count: number,
): Promise<ExternalRun[]> {
  const runs: ExternalRun[] = []
  while (runs.length < count) {
    const few = Array.from({ length: Math.min(8, count - runs.length) }, (_, index) =>
      callApi<ExternalRun>(url, 'POST', '/api/runs', {
        token,
        body: { project, name: `${project} ${runs.length + index + 1}` },
      }),
    )
    runs.push(...(await Promise.all(few)))
  }
  return runs
}
