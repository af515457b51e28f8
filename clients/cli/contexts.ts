import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { usageFailure } from './failure.ts'

/** A server and who one is there. `token` null: signed out, and the server is remembered. */
export type Context = { host: string; username: string; token: string | null }

/** Where one is signed in, by name. The file is only its owner's to read. */
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
    if (error.code === 'ENOENT') return null
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

/** Replaces the file in one step, so that a reader never meets half of it. */
export async function writeContexts(path: string, contexts: Contexts): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const next = `${path}.${process.pid}`
  await writeFile(next, `${JSON.stringify(contexts, null, 2)}\n`, { mode: 0o600 })
  // The mode above holds only where the file is new.
  await chmod(next, 0o600)
  await rename(next, path)
}

export type Asked = { host?: string; context?: string }

export type Target = {
  host: string
  token: string | null
  /** The stored context it comes from; null where none is for that host. */
  context: string | null
}

/**
 * Which server is meant and with which token: the flags, then FORGE_HOST and FORGE_TOKEN, then the context
 * in use. A stored token goes to the host it came from and to no other.
 */
export function targetOf(asked: Asked, env: Env, stored: Contexts): Target {
  const name = asked.context ?? nameOfHost(asked.host || env.FORGE_HOST, stored)
  const context = name === null ? null : contextNamed(name, stored)
  const host = context?.host ?? normalHost(asked.host || env.FORGE_HOST || defaultHost)
  if (asked.host && normalHost(asked.host) !== host)
    throw usageFailure(`The context "${name}" is for ${host}, not for ${asked.host}`)
  return { host, token: env.FORGE_TOKEN || context?.token || null, context: name }
}

/** Which server a sign-in goes to, and the name under which it is kept; both may be new. */
export function signInTarget(
  asked: Asked,
  env: Env,
  stored: Contexts,
): { host: string; context: string } {
  const { context } = asked
  if (context !== undefined && !nameShape.test(context))
    throw usageFailure(
      `"${context}" is no name of a context: letters, digits and . : @ / - are, up to 100`,
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
    known.length === 0 ? 'hint: forge login makes one' : `known are: ${known.join(', ')}`,
  )
}

/** The context for a host, the one in use before others; without a host the one in use. */
function nameOfHost(given: string | undefined, { current, contexts }: Contexts): string | null {
  const inUse = current !== null && own(contexts, current) ? current : null
  if (!given) return inUse
  const host = normalHost(given)
  if (inUse !== null && own(contexts, inUse)?.host === host) return inUse
  return Object.keys(contexts).find(name => contexts[name]?.host === host) ?? null
}

/** `forge.example.com`; the whole address where that name is another server's. */
function newName(host: string, { contexts }: Contexts): string {
  const short = new URL(host).host
  return own(contexts, short) ? host : short
}

const own = (contexts: Contexts['contexts'], name: string): Context | undefined =>
  Object.hasOwn(contexts, name) ? contexts[name] : undefined

/** `example.com` is https, a name of this machine http; no path, no trailing slash. */
export function normalHost(text: string): string {
  const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:|\/|$)/.test(text)
  const address = /^https?:\/\//.test(text) ? text : `${isLocal ? 'http' : 'https'}://${text}`
  if (!URL.canParse(address))
    throw usageFailure(`"${text}" is no address; expected is e.g. forge.example.com`)
  return new URL(address).origin
}
