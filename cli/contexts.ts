import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { usageFailure } from './failure.ts'

/** Where one is signed in, by host. The file is only its owner's to read. */
export type Contexts = {
  current: string | null
  hosts: Record<string, { token: string; username: string }>
}

type Env = Record<string, string | undefined>

const defaultHost = 'http://localhost:8080'

export function contextsPath(env: Env): string {
  const base = env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config')
  return join(base, 'forge', 'contexts.json')
}

export async function readContexts(path: string): Promise<Contexts> {
  const text = await readFile(path, 'utf8').catch(error => {
    if (error.code === 'ENOENT') return null
    throw usageFailure(`${path} cannot be read: ${error.message}`)
  })
  if (text === null) return { current: null, hosts: {} }
  try {
    const { current = null, hosts = {} } = JSON.parse(text) as Partial<Contexts>
    return { current, hosts }
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

export type Target = { host: string; token: string | null }

/**
 * Which server is meant and with which token: the flag, then FORGE_HOST and FORGE_TOKEN, then what
 * `forge login` stored. A stored token goes to the host it came from and to no other.
 */
export function targetOf(flag: string | undefined, env: Env, contexts: Contexts): Target {
  const host = normalHost(flag || env.FORGE_HOST || contexts.current || defaultHost)
  return { host, token: env.FORGE_TOKEN || contexts.hosts[host]?.token || null }
}

/** `example.com` is https, a name of this machine http; no path, no trailing slash. */
export function normalHost(text: string): string {
  const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:|\/|$)/.test(text)
  const address = /^https?:\/\//.test(text) ? text : `${isLocal ? 'http' : 'https'}://${text}`
  if (!URL.canParse(address))
    throw usageFailure(`"${text}" is no address; expected is e.g. forge.example.com`)
  return new URL(address).origin
}
