import { chmod, chown, mkdir, open, readdir, rename, rm, statfs, symlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { disownAttempts } from '../../executor/attempts/restored.ts'
import { disowned } from '../../gateway/traffic/spool-owner.ts'
import { hasCode, syncFolder } from '../../platform/files/content.ts'
import { findServerUser } from '../../platform/postgres/binaries.ts'
import { createPool } from '../../platform/postgres/pool.ts'
import { makeDataDirectory } from '../data-directory.ts'
import type { Config } from '../settings/config.ts'
import { contentOf } from './contents.ts'
import { findTool, majorOf, restoreDump } from './dump.ts'
import { clusterPath } from './make.ts'
import { dumpPath, type FileEntry, type Manifest } from './manifest.ts'
import { type Progress, sizeText } from './progress.ts'
import { BackupRefused } from './refused.ts'
import { BackupStore } from './store.ts'

export type Restoring = {
  /** `dataDir` is absolute. */
  config: Pick<Config, 'dataDir' | 'databaseUrl'>
  /** The folder of backups. */
  folder: string
  /** Null: the newest one. */
  id: string | null
  progress: Progress
  signal: AbortSignal
}

export type Restored = { id: string; data_dir: string; files: number; bytes: number }

/** Holds restored files until all are there; an interrupted restore leaves it behind. */
const staging = '.restoring'

/**
 * Restores a backup into an empty data directory, and a dump into an empty database. Every byte is checked on the way;
 * after a failure the data directory is empty again.
 */
export async function restoreBackup(restoring: Restoring): Promise<Restored> {
  const { config, folder, id, progress } = restoring
  const store = new BackupStore(resolve(folder))
  const manifest = await chosen(store, id)
  await refuseOccupied(config.dataDir)
  const dump = await checkDatabase(manifest, config.databaseUrl)
  const files = manifest.files.filter(file => file !== dump)
  const bytes = files.reduce((sum, { size }) => sum + size, 0)
  await makeDataDirectory(config.dataDir)
  await refuseWithoutRoom(config.dataDir, bytes)
  const fresh = join(config.dataDir, staging)
  await rm(fresh, { recursive: true, force: true })
  try {
    progress.phase('Restoring files', bytes)
    await writeTree(store, { ...manifest, files }, { ...restoring, into: fresh })
    await disownAttempts(join(fresh, 'runs')).catch(unlessMissing)
    await disownSpools(join(fresh, 'traffic')).catch(unlessMissing)
    if (dump && config.databaseUrl !== null)
      await fillDatabase(config.databaseUrl, store, manifest, dump, progress)
    await putInPlace(fresh, config.dataDir)
  } finally {
    await rm(fresh, { recursive: true, force: true })
  }
  return { id: manifest.id, data_dir: config.dataDir, files: files.length, bytes }
}

/** The manifest of a backup. */
export async function chosen(store: BackupStore, id: string | null): Promise<Manifest> {
  const ids = await store.ids()
  const found = id ?? ids.at(-1)
  if (found === undefined)
    throw new BackupRefused(`${store.folder} holds no complete backup of Forge.`)
  if (!ids.includes(found))
    throw new BackupRefused(`${store.folder} holds no backup ${found}, but ${ids.join(', ')}.`)
  return await store.manifest(found)
}

async function refuseOccupied(dataDir: string): Promise<void> {
  const names = await readdir(dataDir).catch(unlessMissing)
  const others = (names ?? []).filter(name => name !== staging && name !== 'lost+found')
  if (others.length > 0)
    throw new BackupRefused(
      `${dataDir} is not empty (${others.slice(0, 5).join(', ')}). A backup is restored into an empty folder: move these files away, or set SERVICE_DATA_DIR to another folder.`,
    )
}

/** The entry of the dump; null where the cluster is among the files. */
async function checkDatabase(
  { id, database, files }: Manifest,
  url: string | null,
): Promise<FileEntry | null> {
  if (database.kind === 'cluster') {
    if (url === null) return null
    throw new BackupRefused(
      `The backup ${id} is of the embedded PostgreSQL and is restored into a data directory; unset SERVICE_DATABASE_URL.`,
    )
  }
  if (url === null)
    throw new BackupRefused(
      `The backup ${id} has a dump of PostgreSQL ${database.major}: set SERVICE_DATABASE_URL to an empty database of that version or a newer one.`,
    )
  await refuseFilledDatabase(url)
  return files.find(({ path }) => path === dumpPath) ?? null
}

async function refuseFilledDatabase(url: string): Promise<void> {
  const pool = createPool(url, { max: 1, applicationName: 'forge restore' })
  try {
    const { rows } = await pool.query<{ name: string }>(
      `select nspname as name from pg_namespace
        where nspname <> 'information_schema' and nspname not like 'pg\\_%' and nspname <> 'public'
        union all
       select 'public.' || relname from pg_class where relnamespace = to_regnamespace('public')
        limit 5`,
    )
    if (rows.length > 0)
      throw new BackupRefused(
        `The database is not empty (${rows.map(({ name }) => name).join(', ')}); create another one, and set SERVICE_DATABASE_URL to it.`,
      )
  } finally {
    await pool.end()
  }
}

async function fillDatabase(
  url: string,
  store: BackupStore,
  { database }: Manifest,
  dump: FileEntry,
  progress: Progress,
): Promise<void> {
  progress.phase('Restoring the database')
  const pool = createPool(url, { max: 1, applicationName: 'forge restore' })
  const major = await majorOf(pool).finally(() => pool.end())
  if (major < database.major)
    throw new BackupRefused(
      `The backup is of PostgreSQL ${database.major} and cannot be restored into version ${major}.`,
    )
  await restoreDump(url, await findTool('pg_restore', database.major), { store, entry: dump })
}

async function refuseWithoutRoom(dataDir: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(dataDir)
  if (bavail * bsize < bytes)
    throw new BackupRefused(
      `The backup needs ${sizeText(bytes)} in ${dataDir}, where ${sizeText(bavail * bsize)} are free.`,
    )
}

type Writing = Pick<Restoring, 'progress' | 'signal'> & { into: string }

/** Several small files at once: each waits for the disk. */
const atOnce = 8

/** Writes files, folders and links below a new folder. */
export async function writeTree(
  store: BackupStore,
  { files, folders, links }: Pick<Manifest, 'files' | 'folders' | 'links'>,
  writing: Writing,
): Promise<void> {
  const { into, signal } = writing
  const user = await findServerUser()
  const ownerOf = ({ path, owner }: { path: string; owner: [number, number] | null }) =>
    isOfCluster(path) && user ? ([user.uid, user.gid] as const) : owner
  await mkdir(into, { mode: 0o700 })
  const parents = new Set([...files, ...links].map(({ path }) => dirname(path)))
  for (const path of new Set([...folders.map(folder => folder.path), ...parents]))
    await mkdir(join(into, path), { recursive: true, mode: 0o700 })
  for (let at = 0; at < files.length; at += atOnce) {
    signal.throwIfAborted()
    const some = files.slice(at, at + atOnce)
    await Promise.all(some.map(file => writeFile(store, file, ownerOf(file), writing)))
  }
  // After the files, so that none is written through one, and before their folders become read-only.
  for (const { path, target } of links) await symlink(target, join(into, path))
  for (const folder of [...folders].sort((a, b) => b.path.length - a.path.length)) {
    const owner = ownerOf(folder)
    if (owner && isRoot()) await chown(join(into, folder.path), ...owner)
    await chmod(join(into, folder.path), folder.mode)
  }
  await giveCluster(into, user)
}

const isRoot = () => process.getuid?.() === 0
const isOfCluster = (path: string) => path === clusterPath || path.startsWith(`${clusterPath}/`)

/** The folder of the cluster has no entry of its own. */
async function giveCluster(into: string, user: { uid: number; gid: number } | null): Promise<void> {
  const cluster = join(into, clusterPath)
  try {
    await chmod(cluster, 0o700)
    if (user) await chown(cluster, user.uid, user.gid)
  } catch (error) {
    unlessMissing(error)
  }
}

async function writeFile(
  store: BackupStore,
  file: FileEntry,
  owner: readonly [number, number] | null,
  { into, progress, signal }: Writing,
): Promise<void> {
  const handle = await open(join(into, file.path), 'wx', 0o600)
  try {
    for await (const bytes of contentOf(store, file)) {
      signal.throwIfAborted()
      await handle.writeFile(bytes)
      progress.add(bytes.length)
    }
    if (owner && isRoot()) await handle.chown(...owner)
    await handle.chmod(file.mode)
    await handle.utimes(file.mtime_ms / 1000, file.mtime_ms / 1000)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** So that the first server adopts what the original had not shipped yet. */
async function disownSpools(folder: string): Promise<void> {
  for (const name of await readdir(folder))
    await rename(join(folder, name), join(folder, disowned(name)))
}

/** The database last: a server that starts on a part of it would begin an empty one. */
async function putInPlace(fresh: string, dataDir: string): Promise<void> {
  const names = await readdir(fresh)
  for (const name of names.sort((a, b) => Number(a === 'postgres') - Number(b === 'postgres')))
    await rename(join(fresh, name), join(dataDir, name))
  await syncFolder(dataDir)
}

function unlessMissing(error: unknown): null {
  if (hasCode(error, 'ENOENT')) return null
  throw error
}
