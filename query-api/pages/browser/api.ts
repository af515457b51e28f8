const tokenKey = 'forge.token'

export const storedToken = (): string | null => sessionStorage.getItem(tokenKey)

/** A response other than 200; `status` tells an ended sign-in from a missing run, and `code` one 403 from another. */
export class ApiFailure extends Error {
  readonly status: number
  readonly code: unknown
  constructor(status: number, detail: string, code?: unknown) {
    super(detail)
    this.status = status
    this.code = code
  }
}

export async function signIn(username: string, password: string): Promise<void> {
  const response = await fetch('/api/auth/login', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password }),
  })
  await keepToken(response)
}

/** Gets a new token with this browser's refresh cookie; false if there is no valid one. */
export async function refresh(): Promise<boolean> {
  const response = await fetch('/api/auth/refresh', { method: 'POST' })
  if (response.status >= 400 && response.status < 500) return false
  await keepToken(response)
  return true
}

export async function signOut(): Promise<void> {
  await fetch('/api/auth/logout', { method: 'POST', headers: authorization() })
  forgetToken()
}

export const forgetToken = (): void => sessionStorage.removeItem(tokenKey)

async function keepToken(response: Response): Promise<void> {
  const { token } = (await accepted(response)) as { token: string }
  sessionStorage.setItem(tokenKey, token)
}

export async function get<T>(path: string): Promise<T> {
  return (await accepted(await fetch(path, { headers: authorization() }))) as T
}

export async function post<T>(path: string, body?: object): Promise<T> {
  const headers = authorization()
  if (body) headers['content-type'] = 'application/json'
  const sent = { method: 'POST', headers, ...(body && { body: JSON.stringify(body) }) }
  return (await accepted(await fetch(path, sent))) as T
}

/** A wrong current password leaves the sign-in valid. */
export const wrongPassword = 'password.wrong'

async function accepted(response: Response): Promise<unknown> {
  const body = await response.json().catch(() => ({}))
  if (response.ok) return body
  const { detail, code } = body as { detail?: unknown; code?: unknown }
  if (response.status === 401 && code !== wrongPassword) forgetToken()
  throw new ApiFailure(
    response.status,
    typeof detail === 'string' ? detail : `HTTP ${response.status}`,
    code,
  )
}

export const authorization = (): Record<string, string> => {
  const token = storedToken()
  return token === null ? {} : { authorization: `Bearer ${token}` }
}
