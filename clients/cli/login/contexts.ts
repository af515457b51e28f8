import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathOfProxy } from '../../../schemas/own-paths.ts'
import { usageFailure } from '../program/failure.ts'
import { inTurn } from './in-turn.ts'

/** The cookie (`name=value`) that renews the access token, and the end of the session. */
export type Refresh = { cookie: string; expires_at: string }

/** A server and an account there. `token` is null when signed out; the server is still remembered. */
export type Context = {
  host: string
  username: string
  token: string | null
  /** Absent or null where only a token was given, for instance by `--token-stdin`. */
  refresh?: Refresh | null
}

/** All contexts by name. The file is readable only by its owner. */
export type Contexts = {
  current: string | null
  contexts: Record<string, Context>
}

type Env = Record<string, string | undefined>

const defaultHost = 'http://localhost:8080'
const nameShape = /^[A-Za-z0-9[][\w.:@/[\]-]{0,99}$/

export function contextsPath(env: Env): string {
  const base = env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config')
  return join(base, 'forge', 'contexts.json')
}

export async function readContexts(path: string): Promise<Contexts> {
  const text = await readFile(path, 'utf8').catch(error => {
    // A home that is not a directory, such as /dev/null, has none.
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
    throw usageFailure(`${path} cannot be read: ${error.message}`)
  })
  if (text === null) return { current: null, contexts: {} }
  try {
    const { current = null, contexts = {} } = JSON.parse(text) as Partial<Contexts>
    return { current, contexts }
  } catch {
    throw usageFailure(`${path} is not JSON; remove it and sign in again with forge login`)
  }
}

/** For a command. Where server and token are given, a file that cannot be read is not needed. */
export async function contextsFor(asked: Asked, env: Env): Promise<Contexts> {
  try {
    return await readContexts(contextsPath(env))
  } catch (error) {
    const isGiven = Boolean(env.FORGE_TOKEN && (asked.host || env.FORGE_HOST) && !asked.context)
    if (isGiven) return { current: null, contexts: {} }
    throw error
  }
}

/** Changes the contexts, in turn with other commands, so that no concurrent change is lost. */
export const updateContexts = (
  path: string,
  change: (stored: Contexts) => Contexts,
): Promise<Contexts> =>
  inTurn(path, async () => {
    const changed = change(await readContexts(path))
    await writeContexts(path, changed)
    return changed
  })

export const withContext = (stored: Contexts, name: string, context: Context): Contexts => ({
  ...stored,
  contexts: { ...stored.contexts, [name]: context },
})

/**
 * Replaces the file atomically, so that no reader sees half of it. Only for commands whose turn it is; others call
 * `updateContexts`.
 */
export async function writeContexts(path: string, contexts: Contexts): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const next = `${path}.${process.pid}`
  await writeFile(next, `${JSON.stringify(contexts, null, 2)}\n`, { mode: 0o600 })
  // The mode above applies only to a new file.
  await chmod(next, 0o600)
  await rename(next, path)
}

export type Asked = { host?: string; context?: string }

export type Target = {
  host: string
  token: string | null
  /** Name of the stored context; null if there is none for that host. */
  context: string | null
}

/**
 * Selects server and token: the flags, then FORGE_HOST and FORGE_TOKEN, then the current context. A stored
 * token is only ever sent to the host it came from.
 */
export function targetOf(asked: Asked, env: Env, stored: Contexts): Target {
  const name = asked.context ?? nameOfHost(asked.host || env.FORGE_HOST, stored)
  const context = name === null ? null : contextNamed(name, stored)
  const host = context?.host ?? normalHost(asked.host || env.FORGE_HOST || defaultHost)
  if (asked.host && normalHost(asked.host) !== host)
    throw usageFailure(`The context "${name}" is for ${host}, not for ${asked.host}`)
  return { host, token: env.FORGE_TOKEN || context?.token || null, context: name }
}

/** The server of a sign-in and the name of its context; both may be new. */
export function signInTarget(
  asked: Asked,
  env: Env,
  stored: Contexts,
): { host: string; context: string } {
  const { context } = asked
  if (context !== undefined && !nameShape.test(context))
    throw usageFailure(
      `"${context}" is not a valid context name; use up to 100 letters, digits and . : @ / -`,
    )
  const given = asked.host || env.FORGE_HOST
  const known = context === undefined ? null : (own(stored.contexts, context)?.host ?? null)
  const host = given ? normalHost(given) : (known ?? targetOf({}, {}, stored).host)
  return { host, context: context ?? nameOfHost(host, stored) ?? newName(host, stored) }
}

export function contextNamed(name: string, { contexts }: Contexts): Context {
  const context = own(contexts, name)
  if (context) return context
  const known = Object.keys(contexts)
  throw usageFailure(
    `There is no context "${name}"`,
    known.length === 0 ? 'hint: forge login creates one' : `known contexts: ${known.join(', ')}`,
  )
}

/** The context for a host, preferring the current one; without a host, the current one. */
function nameOfHost(given: string | undefined, { current, contexts }: Contexts): string | null {
  const inUse = current !== null && own(contexts, current) ? current : null
  if (!given) return inUse
  const host = normalHost(given)
  if (inUse !== null && own(contexts, inUse)?.host === host) return inUse
  return Object.keys(contexts).find(name => contexts[name]?.host === host) ?? null
}

/** `forge.example.com`; the whole address if another server has that name. */
function newName(host: string, { contexts }: Contexts): string {
  const short = host.replace(/^https?:\/\//, '')
  return own(contexts, short) ? host : short
}

const own = (contexts: Contexts['contexts'], name: string): Context | undefined =>
  Object.hasOwn(contexts, name) ? contexts[name] : undefined

/**
 * Adds a scheme: https for `example.com`, http for this machine. Keeps the path under which a proxy serves Forge, but not
 * that of a page or of the API.
 */
export function normalHost(text: string): string {
  const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:|\/|$)/.test(text)
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(text) && !/^https?:\/\//.test(text))
    throw usageFailure(
      `"${text}" is not the address of a server; begin it with http:// or https://`,
    )
  const address = /^https?:\/\//.test(text) ? text : `${isLocal ? 'http' : 'https'}://${text}`
  if (!URL.canParse(address))
    throw usageFailure(`"${text}" is not an address; give one such as forge.example.com`)
  const { origin, pathname } = new URL(address)
  return origin + pathOfProxy(pathname)
}
