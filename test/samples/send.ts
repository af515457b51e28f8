export type Call = {
  method: string
  path: string
  headers?: Record<string, string>
  /** Bytes are sent unchanged, everything else as JSON. */
  body?: unknown
}
/** `text` is empty for streams, which have no end. */
export type Answer = { status: number; headers: Headers; text: string }
export type Send = (call: Call) => Promise<Answer>

/** Calls a server behind one proxy, each time from another address, so that no limit per address is reached. */
export function sender(url: string): Send {
  let calls = 0
  return async ({ method, path, headers, body }) => {
    calls += 1
    const stop = new AbortController()
    const response = await fetch(`${url}${path}`, {
      method,
      signal: stop.signal,
      headers: {
        'x-forwarded-for': `10.${calls >> 16}.${(calls >> 8) & 255}.${calls & 255}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && {
        body: body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body),
      }),
    })
    const isStream = response.headers.get('content-type')?.includes('event-stream') === true
    const text = isStream ? '' : await response.text()
    if (isStream) stop.abort()
    return { status: response.status, headers: response.headers, text }
  }
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** Calls with this token; any status but 200 is thrown. */
export async function asked<T>(send: Send, { token }: { token: string }, call: Call): Promise<T> {
  const { status, text } = await send({ ...call, headers: bearer(token) })
  if (status !== 200) throw new Error(`${call.method} ${call.path} returned ${status} ${text}`)
  return JSON.parse(text)
}

type Person = { username: string; password: string; recovery?: string[] }

/** With a recovery code, for people who have a second factor. */
export async function signIn(send: Send, { username, password, recovery = [] }: Person) {
  const login = (more: object) =>
    send({ method: 'POST', path: '/api/auth/login', body: { username, password, ...more } })
  const alone = await login({})
  const isAsked = alone.text.includes('"second_factor.required"')
  const { status, headers, text } = isAsked ? await login({ code: recovery.shift() }) : alone
  if (status !== 200) throw new Error(`sign-in of ${username} returned ${status} ${text}`)
  const { token }: { token: string } = JSON.parse(text)
  const cookie = String(headers.getSetCookie()[0]).split(';')[0] ?? ''
  return { username, password, recovery, token, cookie }
}
