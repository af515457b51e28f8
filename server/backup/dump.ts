import { execFile, spawn } from 'node:child_process'
import { access, glob } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import type { Pool } from 'pg'
import { CannotStart } from '../../platform/cannot-start.ts'
import { ensureRoles, serviceRoles } from '../database/rights.ts'
import { dumpPath, type FileEntry, partsOf } from './manifest.ts'
import { BackupRefused } from './refused.ts'
import { type BackupStore, type Bytes, partBytes, WholeDigest } from './store.ts'

/** `pg_dump` or `pg_restore` of this major version. Throws `CannotStart` that says which ones were found instead. */
export async function findTool(name: 'pg_dump' | 'pg_restore', major: number): Promise<string> {
  const found: string[] = []
  for (const file of await candidates(name, major)) {
    const version = await versionOf(file)
    if (version === major) return file
    if (version !== null) found.push(`${file} is of version ${version}`)
  }
  throw new CannotStart(
    `The database is PostgreSQL ${major} and needs the ${name} of the same version: ${
      found.length === 0 ? 'none was found' : found.join(', ')
    }. Install PostgreSQL's client programs, on Debian and Ubuntu postgresql-client-${major}, or put a folder with them first in PATH.`,
  )
}

async function candidates(name: string, major: number): Promise<string[]> {
  const folders = [`/usr/lib/postgresql/${major}/bin`, ...(process.env.PATH ?? '').split(delimiter)]
  for await (const folder of glob('/usr/lib/postgresql/*/bin')) folders.push(folder)
  const files = new Set(folders.filter(folder => folder !== '').map(folder => join(folder, name)))
  const present: string[] = []
  for (const file of files)
    await access(file).then(
      () => present.push(file),
      () => {},
    )
  return present
}

/** `pg_dump (PostgreSQL) 16.4 (Debian …)` → 16; null if the program does not run. */
async function versionOf(file: string): Promise<number | null> {
  try {
    const { stdout } = await promisify(execFile)(file, ['--version'], { timeout: 10_000 })
    return Number(/ (\d+)(\.|devel|beta|rc|$)/m.exec(stdout)?.[1]) || null
  } catch {
    return null
  }
}

/** The major version of a server. */
export async function majorOf(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ number: number }>(
    `select current_setting('server_version_num')::integer / 10000 as number`,
  )
  return rows[0]?.number ?? 0
}

/** The address without its password, which every user of the machine could read among the arguments of a program. */
function connectionTo(url: string): { address: string; env: NodeJS.ProcessEnv } {
  const address = new URL(url)
  const { password } = address
  address.password = ''
  return {
    address: address.toString(),
    env: { ...process.env, ...(password !== '' && { PGPASSWORD: decodeURIComponent(password) }) },
  }
}

export type DumpSource = { url: string; tool: string; snapshot: string }

/** Stores a dump of the whole database, as a snapshot of an open transaction sees it. */
export async function storeDump(
  { url, tool, snapshot }: DumpSource,
  {
    store,
    signal,
    copied,
  }: { store: BackupStore; signal: AbortSignal; copied: (bytes: number) => void },
): Promise<FileEntry> {
  const { address, env } = connectionTo(url)
  const child = spawn(tool, ['--format=custom', `--snapshot=${snapshot}`, `--dbname=${address}`], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
  })
  const ended = endOf(child)
  const whole = new WholeDigest()
  const parts: string[] = []
  let size = 0
  const keep = async (bytes: Bytes) => {
    parts.push(await store.put(bytes))
    await whole.add(bytes)
    size += bytes.length
    copied(bytes.length)
  }
  try {
    for await (const bytes of inParts(child.stdout)) await keep(bytes)
  } finally {
    child.kill()
  }
  const fault = await ended
  if (fault !== null) throw new BackupRefused(`pg_dump failed: ${fault}`)
  return {
    ...{ path: dumpPath, mode: 0o600, owner: null, mtime_ms: 0, size },
    sha256: whole.hex(),
    ...(parts.length > 1 && { parts }),
  }
}

/** Fills an empty database from a dump; if it fails, the database stays empty. */
export async function restoreDump(
  url: string,
  tool: string,
  { store, entry }: { store: BackupStore; entry: FileEntry },
): Promise<void> {
  // The dump contains grants to the roles, but not the roles.
  const { why } = await ensureRoles(url)
  if (why !== null)
    throw new BackupRefused(
      `The dump cannot be restored: ${why}. As a superuser, for each that is missing of ${['forge_reader', ...serviceRoles].join(', ')}: CREATE ROLE … NOLOGIN.`,
    )
  const { address, env } = connectionTo(url)
  const child = spawn(tool, ['--single-transaction', '--no-owner', `--dbname=${address}`], {
    env,
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  const ended = endOf(child)
  // It may end before it has read everything; its status says why.
  child.stdin.on('error', () => {})
  try {
    for (const part of partsOf(entry))
      if (!child.stdin.write(await store.get(part)))
        await Promise.race([new Promise(done => child.stdin.once('drain', done)), ended])
    child.stdin.end()
  } catch (error) {
    child.kill()
    throw error
  }
  const fault = await ended
  if (fault !== null) throw new BackupRefused(`pg_restore failed: ${fault}`)
}

type Ending = Pick<ReturnType<typeof spawn>, 'stderr' | 'once'>

/** Null if it succeeded, otherwise its output. */
function endOf(child: Ending): Promise<string | null> {
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', text => {
    said = `${said}${text}`.slice(-2000)
  })
  return new Promise(resolve => {
    child.once('error', error => resolve(error.message))
    child.once('close', (code, signal) =>
      resolve(code === 0 ? null : said.trim() || `it ended with ${signal ?? code}`),
    )
  })
}

async function* inParts(stream: AsyncIterable<Buffer>): AsyncGenerator<Bytes> {
  let waiting: Buffer[] = []
  let bytes = 0
  for await (const chunk of stream) {
    waiting.push(chunk)
    bytes += chunk.length
    if (bytes < partBytes) continue
    const joined = Buffer.concat(waiting)
    const whole = joined.length - (joined.length % partBytes)
    for (let at = 0; at < whole; at += partBytes) yield joined.subarray(at, at + partBytes)
    waiting = [joined.subarray(whole)]
    bytes = joined.length - whole
  }
  if (bytes > 0) yield Buffer.concat(waiting)
}
