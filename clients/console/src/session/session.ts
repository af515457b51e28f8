import type { Static } from 'typebox'
import type { loginReply, me, refreshReply } from '../../../../schemas/sessions.ts'
import { basePath } from './base-path.ts'
import { isConfirmed, refused } from './confirmation.ts'
import { ApiFailure, type FaultText, SignedOut, Unreachable } from './failure.ts'
import { createStore } from './store.ts'

export type Me = Static<typeof me>

/**
 * Who is signed in. The access token lives in this module only, not in storage or addresses; another tab gets
 * its own by the refresh cookie, which no script can read.
 */
export type Session =
  | { state: 'starting' }
  /** `ask`: the identity provider must ask who it is, even if somebody is signed in there. */
  | { state: 'signed-out'; why: Why | null; ask: boolean }
  | { state: 'signed-in'; username: string }

/** Why nobody is signed in any longer: the session ended, another tab signed out, or the server says why. */
export type Why = 'ended' | 'elsewhere' | { said: string }

export const session = createStore<Session>({ state: 'starting' })

/** Whether the server responds; `since` is when it last did, in milliseconds of the epoch. */
export type Reach = { ok: true } | { ok: false; since: number; why: Away }

/** It is silent, refuses without a reason, or gives one. */
export type Away = 'silent' | 'unready' | { said: string }

export const reach = createStore<Reach>({ ok: true })

let token: string | null = null
let renewing: Promise<boolean> | null = null

type FromTab = { type: 'signed-out' } | { type: 'signed-in'; username: string }

/** Another Forge may be served under another path of the same host. */
const tabs = new BroadcastChannel(`forge${basePath}`)
tabs.onmessage = ({ data }: MessageEvent<FromTab>) => {
  const now = session.get()
  if (data.type === 'signed-out' && now.state === 'signed-in') forget('elsewhere')
  // Signing in in one tab takes over the cookie of all: a tab of another person would mix two people.
  else if (data.type === 'signed-in' && !isSignedInAs(now, data.username)) location.reload()
}

const isSignedInAs = (now: Session, username: string) =>
  now.state === 'signed-in' && now.username === username

/** Resumes the session of this browser's cookie, if there is one. Retries until the server has responded. */
export async function takeUp(signal: AbortSignal): Promise<void> {
  for (let n = 0; !signal.aborted; n++)
    try {
      if (!(await renew())) forget(null, false)
      return
    } catch {
      await new Promise(resolve => setTimeout(resolve, Math.min(5_000, 500 * 2 ** n)))
    }
}

/** What a person enters; `code` or `passkey`: their second factor, when the server asks for it. */
export type Credentials = { username: string; password: string; code?: string; passkey?: unknown }

export const signIn = (credentials: Credentials): Promise<void> =>
  signInBy(post => post('/api/auth/login', credentials))

type Post = <T>(path: string, body?: unknown) => Promise<T>

/** Signs in with the requests of `prove`, which are sent as nobody. */
export async function signInBy(
  prove: (post: Post) => Promise<Static<typeof loginReply>>,
): Promise<void> {
  const { token: given, user } = await prove(postAsNobody)
  keep(given, user.username)
  tabs.postMessage({ type: 'signed-in', username: user.username } satisfies FromTab)
}

const postAsNobody: Post = async <T>(path: string, body?: unknown) => {
  const response = await sent(path, {
    method: 'POST',
    ...(body !== undefined && {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  })
  return (await accepted(response)) as T
}

/** Ends the session in all tabs, even if the server cannot be reached. */
export async function signOut(): Promise<void> {
  const told = token === null ? Promise.resolve() : request('POST', '/api/auth/logout')
  await told.catch(() => {})
  forget(null)
  tabs.postMessage({ type: 'signed-out' } satisfies FromTab)
}

/** Asks for a new sign-in and keeps the page where it is. */
export function forget(why: Why | null, ask = true): void {
  token = null
  refused.get()?.end(false)
  session.set({ state: 'signed-out', why, ask })
}

function keep(given: string, username: string): void {
  token = given
  if (!isSignedInAs(session.get(), username)) session.set({ state: 'signed-in', username })
}

/** One refresh at a time in all tabs: a second use of the same cookie would look like theft. False: no session. */
function renew(): Promise<boolean> {
  const alone = () =>
    'locks' in navigator ? navigator.locks.request(`forge.refresh${basePath}`, refresh) : refresh()
  renewing ??= alone().finally(() => {
    renewing = null
  })
  return renewing
}

async function refresh(): Promise<boolean> {
  const response = await sent('/api/auth/refresh', { method: 'POST' })
  if (response.status === 401) return false
  const reply = (await accepted(response)) as Static<typeof refreshReply>
  keep(reply.token, reply.user.username)
  return true
}

/**
 * What the person who is signed in may do: nothing until they replace a generated password or set up a second factor (limited), or
 * all that their role allows. Unknown until the server has said so.
 */
export const standing = createStore<'unknown' | 'limited' | 'full'>('unknown')

const limiting = ['password.generated', 'second_factor.set_up']

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
export type Asked = {
  /** Sent as JSON. */
  body?: unknown
  /** Sent without encoding. */
  bytes?: Blob
  signal?: AbortSignal
  headers?: Record<string, string>
}

/**
 * Calls the API as the person who is signed in; once more with a new token if the old one has ended, and once more after they
 * confirmed who they are, if the request needs a recent sign-in.
 */
export async function request<T>(method: Method, path: string, asked: Asked = {}): Promise<T> {
  const send = async () => (await accepted(await authorized(method, path, asked))) as T
  try {
    return await send()
  } catch (error) {
    if (!(await isConfirmed(error, { method, path }))) throw error
    return await send()
  }
}

/** The response itself, for streams and downloads; with any status except an ended sign-in. */
export async function authorized(method: Method, path: string, asked: Asked): Promise<Response> {
  const response = await withToken(method, path, asked)
  if (response.status !== 401 || (await isAboutPassword(response))) return response
  if (!(await renew())) {
    forget('ended', false)
    throw new SignedOut()
  }
  return withToken(method, path, asked)
}

/** A wrong or incomplete proof of who they are leaves the sign-in valid. */
const isAboutPassword = async (response: Response): Promise<boolean> =>
  (
    await response
      .clone()
      .json()
      .catch(() => ({}))
  ).code?.match(/^(password\.wrong|second_factor\.)/) != null

async function withToken(method: Method, path: string, { body, bytes, signal, headers }: Asked) {
  if (token === null) throw new SignedOut()
  return await sent(path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(bytes && { body: bytes }),
    ...(signal && { signal }),
  })
}

/** A server that has not responded for this long counts as away, in milliseconds. */
const silentMs = 5_000
/** A request without a response may be a slow one: after this long the server is asked whether it is alive. */
const patientMs = 2_000

/** Whether the server still responds: requests the smallest response, and waits 5 s at most. */
export async function isAnswering(withinMs = silentMs): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(withinMs)
    const { ok } = await fetch(`${basePath}/healthz`, { cache: 'no-store', signal })
    const now = reach.get()
    // It is alive during maintenance, too, which other responses report.
    if (ok && (now.ok || now.why === 'silent')) reach.set({ ok: true })
    return ok
  } catch {
    lost('silent')
    return false
  }
}

async function sent(path: string, init: RequestInit): Promise<Response> {
  const slow = setTimeout(() => {
    if (!init.signal?.aborted) void isAnswering(silentMs - patientMs)
  }, patientMs)
  try {
    const response = await fetch(basePath + path, { ...init, credentials: 'same-origin' })
    if (response.status === 503) lost(await whyOf(response.clone()))
    else reach.set({ ok: true })
    return response
  } catch (error) {
    if (init.signal?.aborted) throw error
    lost('silent')
    throw new Unreachable(error)
  } finally {
    clearTimeout(slow)
  }
}

async function whyOf(response: Response): Promise<Away> {
  const { detail } = await response.json().catch(() => ({}))
  return typeof detail === 'string' ? { said: detail } : 'unready'
}

function lost(why: Away): void {
  const now = reach.get()
  reach.set({ ok: false, since: now.ok ? Date.now() : now.since, why })
}

/** Loaded when first needed; without them, the API's own text is shown. */
const faultTexts = (): Promise<FaultText | undefined> =>
  import('../words/faults.ts').then(
    ({ faultText }) => faultText,
    () => undefined,
  )

export async function accepted(response: Response): Promise<unknown> {
  const body = await response.json().catch(() => ({}))
  if (response.ok) return body
  const requestId = response.headers.get('x-request-id')
  const textOf = response.status === 422 ? await faultTexts() : undefined
  const failure = new ApiFailure(response.status, body, requestId, textOf)
  if (failure.code !== null && limiting.includes(failure.code)) standing.set('limited')
  throw failure
}
