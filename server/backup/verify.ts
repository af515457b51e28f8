import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Kysely, PostgresDialect } from 'kysely'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { startEmbeddedPostgres } from '../../platform/postgres/embedded.ts'
import { createPool } from '../../platform/postgres/pool.ts'
import type { MetricTables } from '../../projector/metrics/table.ts'
import { verifyChain } from '../../query-api/audit/verify.ts'
import { readSeries } from '../../query-api/metrics/read.ts'
import { contentOf } from './contents.ts'
import { countRows, differences } from './counts.ts'
import { findTool, restoreDump } from './dump.ts'
import { dumpPath, type Manifest } from './manifest.ts'
import type { Progress } from './progress.ts'
import { BadBackup } from './refused.ts'
import { chosen, writeTree } from './restore.ts'
import { BackupStore } from './store.ts'

export type Verifying = {
  folder: string
  /** Null: the newest one. */
  id: string | null
  logger: Logger
  progress: Progress
  signal: AbortSignal
}

export type Verified = {
  id: string
  files: number
  bytes: number
  /** Null if the backup has no counts. */
  tables: number | null
  rows: number | null
  /** Events on the chain of the audit. */
  events: number
  /** Metric series that were read back, and their points. */
  series: number
  points: number
}

/** How many series are read back. */
const mostSeries = 100

/**
 * Reads every byte of a backup, restores its database into a temporary folder, and starts PostgreSQL on it. Throws
 * `BadBackup` with everything that is wrong.
 */
export async function verifyBackup(verifying: Verifying): Promise<Verified> {
  const { folder, id, progress } = verifying
  const store = new BackupStore(resolve(folder))
  const manifest = await chosen(store, id)
  const bytes = manifest.files.reduce((sum, { size }) => sum + size, 0)
  progress.phase('Reading the backup', bytes)
  await readAll(store, manifest, verifying)
  const scratch = await mkdtemp(join(tmpdir(), 'forge-verify-'))
  try {
    const found = await withDatabase(store, manifest, { ...verifying, scratch }, url =>
      checkDatabase(url, manifest, verifying),
    )
    return { id: manifest.id, files: manifest.files.length, bytes, ...found }
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

async function readAll(
  store: BackupStore,
  { files }: Manifest,
  { progress, signal }: Verifying,
): Promise<void> {
  const faults: string[] = []
  for (const file of files)
    try {
      for await (const bytes of contentOf(store, file)) {
        signal.throwIfAborted()
        progress.add(bytes.length)
      }
    } catch (error) {
      if (!(error instanceof BadBackup)) throw error
      faults.push(...error.faults)
    }
  if (faults.length > 0) throw new BadBackup(faults)
}

/** Runs `work` on the restored database, in a temporary PostgreSQL. */
async function withDatabase<T>(
  store: BackupStore,
  manifest: Manifest,
  { scratch, logger, progress, signal }: Verifying & { scratch: string },
  work: (url: string) => Promise<T>,
): Promise<T> {
  const into = join(scratch, 'data')
  const inDatabase = ({ path }: { path: string }) => path.startsWith('postgres/')
  const tree = {
    files: manifest.files.filter(inDatabase),
    folders: manifest.folders.filter(inDatabase),
    links: manifest.links.filter(inDatabase),
  }
  const bytes = tree.files.reduce((sum, { size }) => sum + size, 0)
  progress.phase('Restoring the database', bytes)
  await writeTree(store, tree, { into, progress, signal })
  const directory = join(into, 'postgres')
  const dump = manifest.files.find(({ path }) => path === dumpPath)
  // Faster, and lost with the folder anyway.
  const settings = { fsync: 'off', full_page_writes: 'off' }
  const postgres = await startEmbeddedPostgres({ directory, logger, settings })
  try {
    if (manifest.database.kind === 'dump' && dump) {
      const tool = await findTool('pg_restore', manifest.database.major)
      await restoreDump(postgres.url, tool, { store, entry: dump })
    }
    return await work(postgres.url)
  } finally {
    await postgres.stop()
  }
}

async function checkDatabase(
  url: string,
  { database }: Manifest,
  { progress, signal }: Verifying,
): Promise<Omit<Verified, 'id' | 'files' | 'bytes'>> {
  const pool = createPool(url, {
    max: 4,
    applicationName: 'forge verify',
    searchPath: 'read',
    statementTimeoutMs: null,
  })
  try {
    progress.phase('Comparing tables')
    const counts = await countsIn(pool, database.counts, signal)
    progress.phase('Verifying the audit')
    const { first_bad, checked } = await verifyChain(pool, { kept: null, signal })
    if (first_bad)
      throw new BadBackup([
        `the audit is ${first_bad.kind} at position ${first_bad.position}: ${first_bad.detail}`,
      ])
    progress.phase('Reading metrics')
    return { ...counts, events: checked, ...(await readMetrics(pool)) }
  } finally {
    await pool.end()
  }
}

async function countsIn(
  pool: Pool,
  expected: Manifest['database']['counts'],
  signal: AbortSignal,
): Promise<Pick<Verified, 'tables' | 'rows'>> {
  if (expected === null) return { tables: null, rows: null }
  const session = await pool.connect()
  const found = await countRows(session, signal).finally(() => session.release())
  const faults = differences(expected, found)
  if (faults.length > 0) throw new BadBackup(faults)
  const rows = Object.values(found).reduce((sum, count) => sum + count, 0)
  return { tables: Object.keys(found).length, rows }
}

type Sampled = { run_id: string; key: string; count: number; exact: boolean }

/** Reads random series as the API reads them, and compares how many points they have. */
async function readMetrics(pool: Pool): Promise<Pick<Verified, 'series' | 'points'>> {
  const { rows } = await pool.query<Sampled>(
    `select r.run_id, n.key, s.count, s.exact
       from metric_summary s join metric_run r using (run_no) join metric_name n using (key_no)
      order by random() limit $1`,
    [mostSeries],
  )
  const db = new Kysely<MetricTables>({ dialect: new PostgresDialect({ pool }) })
  const faults: string[] = []
  let points = 0
  for (const { run_id, key, count, exact } of rows) {
    const [series] = await readSeries(db, run_id, { ...everything, keys: [key] })
    const found = series?.points.length ?? 0
    points += found
    if (exact && !series?.bucketed && found !== count)
      faults.push(`${key} of ${run_id} has ${found} points instead of ${count}`)
  }
  if (faults.length > 0) throw new BadBackup(faults)
  return { series: rows.length, points }
}

/** A series with fewer points is returned without buckets. */
const everything = {
  axis: 'step' as const,
  from: Number.NEGATIVE_INFINITY,
  to: Number.POSITIVE_INFINITY,
  buckets: 1_000_000,
}
