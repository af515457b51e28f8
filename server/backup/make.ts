import { existsSync } from 'node:fs'
import { mkdir, readdir, realpath, statfs } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import type { Pool, PoolClient } from 'pg'
import { textLock } from '../../platform/postgres/locks.ts'
import { createPool } from '../../platform/postgres/pool.ts'
import { tryWithLock } from '../../platform/postgres/with-lock.ts'
import type { Clock } from '../../platform/time.ts'
import { environmentsIn } from '../roles/isolation.ts'
import type { Config } from '../settings/config.ts'
import { copyCluster, isLeftOut } from './cluster.ts'
import { countRows } from './counts.ts'
import { findTool, majorOf, storeDump } from './dump.ts'
import { type DatabaseEntry, type FileEntry, idOf, type Manifest, type Tree } from './manifest.ts'
import { type Progress, sizeText } from './progress.ts'
import { BackupRefused, BackupUnderWay, BadBackup } from './refused.ts'
import { BackupStore } from './store.ts'
import { type Copying, measure, TreeCopy } from './tree.ts'

export type Making = {
  /** `dataDir` is absolute. */
  config: Config
  /** The running database. */
  url: string
  /** The folder of backups. */
  folder: string
  /** How many backups stay in the folder; null: all. */
  keep: number | null
  version: string
  now: Clock
  progress: Progress
  signal: AbortSignal
  /** Resolves once everything that was acknowledged before is in the database. */
  drained: () => Promise<void>
}

export type Made = {
  id: string
  folder: string
  began_at: string
  ended_at: string
  files: number
  /** The total size of all files. */
  bytes: number
  /** The size of the parts that no earlier backup had. */
  added_bytes: number
  /** Older backups that were deleted. */
  removed: string[]
  left_out: number
}

/** The cluster of the embedded PostgreSQL, in the data directory. */
export const clusterPath = 'postgres/cluster'

/**
 * Makes a backup of a running installation. The database is restored to one instant near the end, after everything that
 * was acknowledged before the beginning. Rows name files, which exist before the rows and are deleted after them. So
 * files are copied before that instant, in case they are deleted meanwhile, and again after it, to include new ones.
 */
export async function makeBackup(making: Making): Promise<Made> {
  const { config, folder, url } = making
  await refuseNested(config.dataDir, folder)
  const store = new BackupStore(resolve(folder))
  const pool = createPool(url, {
    max: 3,
    applicationName: 'forge backup',
    statementTimeoutMs: null,
  })
  try {
    return await store.alone(async () => {
      let made: Made | null = null
      const lock = textLock(`backup ${store.folder}`)
      await tryWithLock(pool, lock, async (session, lost) => {
        const signal = AbortSignal.any([making.signal, lost])
        made = await make({ ...making, signal }, { pool, session, store })
      })
      if (made === null)
        throw new BackupUnderWay(
          `Another server is making a backup in ${folder}; wait for its end.`,
        )
      return made
    })
  } finally {
    await pool.end()
  }
}

type Tools = { pool: Pool; session: PoolClient; store: BackupStore }

async function make(making: Making, tools: Tools): Promise<Made> {
  const { config, keep, version, now, progress, signal, drained } = making
  const { pool, store } = tools
  const began = now()
  const previous = await newestOf(store)
  const installation = await installationOf(pool)
  if (previous && previous.installation !== installation)
    throw new BackupRefused(
      `${store.folder} holds backups of another installation; choose another folder.`,
    )
  const bytes = await refuseWithoutRoom(making, store, previous)
  progress.phase('Copying files', bytes.data)
  const copying = { store, signal, now, copied: progress.add }
  const files = new TreeCopy(config.dataDir, {
    ...copying,
    leavesOut: leftOutOf(config),
    // Runs decide who may read their files.
    mayBeUnreadable: path => path.startsWith('runs/'),
    promised: path => /^uploads\/sha256\/([0-9a-f]{64})$/.exec(path)?.[1] ?? null,
    known: new Map(previous?.files.map(file => [file.sha256, file])),
  })
  await files.pass()
  await drained()
  const there = new Set<string>()
  const around = {
    async before() {
      await files.pass()
      for (const path of await files.list()) there.add(path)
    },
    async after() {
      for (const path of await files.list()) there.add(path)
    },
  }
  progress.phase('Copying the database', bytes.database)
  const database = await withObserver(pool, observer =>
    config.databaseUrl === null
      ? copyEmbedded(making, tools, { copying, observer, around })
      : copyDump(making, tools, { copying, observer, around }),
  )
  progress.phase('Copying files that have changed')
  const last = withVanished(await files.pass(), files, there)
  const manifest: Manifest = {
    id: idOf(began),
    installation,
    began_at: began.toISOString(),
    ended_at: now().toISOString(),
    forge: version,
    database: database.entry,
    left_out: files.leftOut,
    files: [...last.files, ...database.tree.files],
    folders: [...last.folders, ...database.tree.folders],
    links: [...last.links, ...database.tree.links],
  }
  signal.throwIfAborted()
  await store.add(manifest)
  const { removed } = keep === null ? { removed: [] } : await store.thin(keep)
  return {
    id: manifest.id,
    folder: store.folder,
    began_at: manifest.began_at,
    ended_at: manifest.ended_at,
    files: manifest.files.length,
    bytes: manifest.files.reduce((sum, { size }) => sum + size, 0),
    added_bytes: store.addedBytes,
    removed,
    left_out: manifest.left_out,
  }
}

type Copied = { entry: DatabaseEntry; tree: Tree }
type Doing = {
  copying: Pick<Copying, 'store' | 'signal' | 'now' | 'copied'>
  observer: PoolClient
  around: { before(): Promise<void>; after(): Promise<void> }
}

async function copyEmbedded(
  { config, now, signal, progress }: Making,
  { pool, session }: Tools,
  { copying, observer, around }: Doing,
): Promise<Copied> {
  const cluster = join(config.dataDir, clusterPath)
  const { tree, isOpen } = await copyCluster(cluster, {
    ...{ pool, session, observer, around },
    name: `forge_backup_${idOf(now()).toLowerCase()}`,
    copying: {
      ...copying,
      leavesOut: isLeftOut,
      mayBeUnreadable: () => false,
      promised: () => null,
      known: new Map(),
    },
  })
  progress.phase('Counting rows')
  const counts = isOpen ? await countRows(observer, signal) : null
  const inside = <E extends { path: string }>(entries: readonly E[]): E[] =>
    entries.map(entry => ({ ...entry, path: `${clusterPath}/${entry.path}` }))
  return {
    entry: { kind: 'cluster', major: await majorOf(pool), counts },
    tree: {
      files: inside(tree.files),
      folders: inside(tree.folders),
      links: inside(tree.links),
    },
  }
}

async function copyDump(
  { config, signal }: Making,
  { pool }: Tools,
  { copying, observer, around }: Doing,
): Promise<Copied> {
  const major = await majorOf(pool)
  const tool = await findTool('pg_dump', major)
  await around.before()
  await observer.query('begin transaction isolation level repeatable read, read only')
  const { rows } = await observer.query<{ snapshot: string }>(
    'select pg_export_snapshot() as snapshot',
  )
  await around.after()
  const counts = await countRows(observer, signal)
  const from = { url: config.databaseUrl ?? '', tool, snapshot: rows[0]?.snapshot ?? '' }
  const dump = await storeDump(from, copying)
  return {
    entry: { kind: 'dump', major, counts },
    tree: { files: [dump], folders: [], links: [] },
  }
}

/** A connection for a transaction that sees the state of the database that will be restored. */
async function withObserver<T>(pool: Pool, work: (observer: PoolClient) => Promise<T>): Promise<T> {
  const observer = await pool.connect()
  try {
    await observer.query('set idle_in_transaction_session_timeout = 0')
    return await work(observer)
  } finally {
    // Closed instead of returned, with its transaction.
    observer.release(true)
  }
}

/** Files that were there at the instant that is restored and were deleted before the last pass could copy them. */
function withVanished(last: Tree, files: TreeCopy, there: ReadonlySet<string>): Tree {
  const found = new Set(last.files.map(({ path }) => path))
  const vanished = [...there].flatMap(path => (found.has(path) ? [] : (files.earlier(path) ?? [])))
  return { ...last, files: [...last.files, ...vanished] }
}

/** The newest backup of a folder that can be read: a damaged one only costs the comparison with it. */
async function newestOf(store: BackupStore): Promise<Manifest | null> {
  for (const id of (await store.ids()).reverse())
    try {
      return await store.manifest(id)
    } catch (error) {
      if (!(error instanceof BadBackup)) throw error
    }
  return null
}

async function installationOf(pool: Pool): Promise<string> {
  const { rows } = await pool.query<{ id: string }>(
    `select system_identifier || ' ' || current_database() as id from pg_control_system()`,
  )
  return rows[0]?.id ?? ''
}

/**
 * Left out: the database, which is copied apart; Python environments, which work only where they were built; unpacked
 * recipes, which the database has; fetched datasets, which are in the store; the reserve of disk space, which the server makes again; the demos' own installations;
 * and folders being prepared or deleted.
 */
function leftOutOf(config: Config): (path: string) => boolean {
  const environments = relative(config.dataDir, resolve(environmentsIn(config)))
  const remade = ['environments', environments, 'recipes', 'datasets', 'reserve', 'reserve.new']
  const tops = [...remade, 'demo', 'demo-data', '.restoring']
  return path =>
    tops.includes(path) ||
    (path.startsWith('postgres/') && path !== 'postgres/password') ||
    /^runs\/\.(new-|old-|code-cache)/.test(path) ||
    /^uploads\/sealed-/.test(path)
}

/** Also through links. */
export async function refuseNested(dataDir: string, folder: string): Promise<void> {
  const [data, target] = await Promise.all([realOf(dataDir), realOf(resolve(folder))])
  if (contains(data, target))
    throw new BackupRefused(
      `${folder} is inside the data directory ${dataDir}, and would be lost with it; choose a folder on another disk.`,
    )
  if (contains(target, data))
    throw new BackupRefused(
      `${folder} contains the data directory ${dataDir}; choose a folder of its own.`,
    )
  const names: string[] = await readdir(target).catch(() => [])
  const others = names.filter(name => !ownNames.includes(name))
  if (others.length > 0 && !names.includes('backups'))
    throw new BackupRefused(
      `${folder} holds other files (${others[0]}); choose an empty folder, or one with backups.`,
    )
}

/** What a folder of backups holds, and a new disk. */
const ownNames = ['parts', 'backups', 'in-use.json', 'lost+found']

const contains = (outer: string, inner: string): boolean => {
  const path = relative(outer, inner)
  return !path.startsWith('..') && !isAbsolute(path)
}

async function realOf(path: string): Promise<string> {
  if (existsSync(path) || dirname(path) === path) return await realpath(path)
  return join(await realOf(dirname(path)), basename(path))
}

/** Room beyond the estimate, in bytes: files grow meanwhile, and the WAL is added. */
const spareBytes = 64 * 1024 * 1024

async function refuseWithoutRoom(
  { config }: Making,
  store: BackupStore,
  previous: Manifest | null,
): Promise<{ data: number; database: number }> {
  const known = new Map<string, FileEntry>(previous?.files.map(file => [file.path, file]))
  const data = await measure(config.dataDir, leftOutOf(config), known)
  const prefix = `${clusterPath}/`
  const ofCluster = new Map(
    [...known].flatMap(([path, file]) =>
      path.startsWith(prefix) ? [[path.slice(prefix.length), file] as const] : [],
    ),
  )
  const database =
    config.databaseUrl === null
      ? await measure(join(config.dataDir, clusterPath), isLeftOut, ofCluster)
      : { total: 0, changed: 0 }
  await mkdir(store.folder, { recursive: true, mode: 0o700 })
  const { bavail, bsize } = await statfs(store.folder)
  const [free, needed] = [bavail * bsize, data.changed + database.changed + spareBytes]
  if (free < needed)
    throw new BackupRefused(
      `The backup needs up to ${sizeText(needed)} in ${store.folder}, where ${sizeText(free)} are free. Make room, keep fewer backups, or choose another disk.`,
    )
  return { data: data.total, database: database.total }
}
