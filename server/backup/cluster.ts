import { open, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Pool, PoolClient } from 'pg'
import { pause } from '../../platform/pause.ts'
import {
  openAtPosition,
  type Segment,
  segmentsOf,
  startBackup,
  untilFlushed,
  type WalRange,
} from '../../platform/postgres/low-level-backup.ts'
import type { FileEntry, Tree } from './manifest.ts'
import { BackupRefused } from './refused.ts'
import type { BackupStore, Bytes } from './store.ts'
import { type Copying, TreeCopy } from './tree.ts'

/** Folders that PostgreSQL recreates, or fills from the WAL; they are kept empty (manual, "Backing Up the Data Directory"). */
const emptied = [
  'pg_dynshmem',
  'pg_notify',
  'pg_replslot',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
  'pg_wal',
]
const ofTheRunningServer =
  /^(postmaster\.(pid|opts)|backup_label(\.old)?|tablespace_map(\.old)?|recovery\.signal|standby\.signal)$/
const temporary = /(^|\/)(pgsql_tmp[^/]*|pg_internal\.init[^/]*)$/
const controlFile = 'global/pg_control'

/** Entries of a cluster that are not part of a backup. `pg_control` is copied last, and apart. */
export function isLeftOut(path: string): boolean {
  const [top = '', ...below] = path.split('/')
  if (emptied.includes(top)) return below.length > 0
  return path === controlFile || ofTheRunningServer.test(path) || temporary.test(path)
}

export type ClusterCopy = {
  /** Paths relative to the cluster. */
  tree: Tree
  /** A transaction in `observer` that sees what will be restored; false if there was no instant for it. */
  isOpen: boolean
}

export type ClusterDeps = {
  pool: Pool
  /** Holds the backup while its files are copied. */
  session: PoolClient
  /** Gets a transaction at the position of the backup. */
  observer: PoolClient
  copying: Copying
  name: string
  /** Called shortly before and after the instant that is restored. */
  around: { before(): Promise<void>; after(): Promise<void> }
}

/** Copies the cluster of a running server. A restore yields its state at one instant after the copying. */
export async function copyCluster(cluster: string, deps: ClusterDeps): Promise<ClusterCopy> {
  const { pool, session, observer, copying, name, around } = deps
  const { store, signal } = copying
  await refuseTablespaces(cluster)
  const backup = await startBackup(session, name)
  const tree = await new TreeCopy(cluster, copying).pass()
  tree.files.push(await stored(store, controlFile, await readControl(cluster, signal)))
  await around.before()
  const { label, tablespaceMap, wal } = await backup.stop()
  const position = await openAtPosition(observer, signal)
  await around.after()
  const range = { ...wal, end: position ?? wal.end }
  await untilFlushed(pool, range.end, signal)
  for (const segment of segmentsOf(range))
    tree.files.push(await copySegment(cluster, segment, range, store))
  tree.folders.push(...walFolders)
  tree.files.push(await stored(store, 'backup_label', Buffer.from(label)))
  if (tablespaceMap !== '')
    tree.files.push(await stored(store, 'tablespace_map', Buffer.from(tablespaceMap)))
  return { tree, isOpen: position !== null }
}

const walFolders = ['pg_wal/archive_status', 'pg_wal/summaries'].map(path => ({
  path,
  mode: 0o700,
  owner: null,
}))

async function refuseTablespaces(cluster: string): Promise<void> {
  const spaces = await readdir(join(cluster, 'pg_tblspc'))
  if (spaces.length > 0)
    throw new BackupRefused(
      `The embedded PostgreSQL has tablespaces outside its data directory (${spaces.join(', ')}), which are not backed up; move their tables back.`,
    )
}

/** The server may be writing it: until two reads are equal. */
async function readControl(cluster: string, signal: AbortSignal): Promise<Bytes> {
  const file = join(cluster, controlFile)
  for (let before = await readFile(file); ; ) {
    signal.throwIfAborted()
    await pause(10, signal)
    const after = await readFile(file)
    if (after.equals(before)) return after
    before = after
  }
}

/** What follows the position in its segment is zeros, so that recovery ends there. */
async function copySegment(
  cluster: string,
  { name, bytes }: Segment,
  { segmentBytes }: WalRange,
  store: BackupStore,
): Promise<FileEntry> {
  const content = Buffer.alloc(Number(segmentBytes))
  const handle = await open(join(cluster, 'pg_wal', name))
  try {
    const { bytesRead } = await handle.read(content, 0, bytes, 0)
    if (bytesRead < bytes) throw new Error(`${name} of the WAL is shorter than its records`)
  } finally {
    await handle.close()
  }
  return await stored(store, `pg_wal/${name}`, content)
}

async function stored(store: BackupStore, path: string, content: Bytes): Promise<FileEntry> {
  return { path, mode: 0o600, owner: null, mtime_ms: 0, ...(await store.putWhole(content)) }
}
