import { mkdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Gauge } from 'prom-client'
import type { Check } from '../../platform/readiness.ts'
import { repeat } from '../../platform/repeat.ts'
import type { Core } from '../core.ts'
import { drained } from './drain.ts'
import { makeBackup, refuseNested } from './make.ts'
import { timeOf } from './manifest.ts'
import { silent } from './progress.ts'
import { BackupUnderWay } from './refused.ts'
import { BackupStore } from './store.ts'

const hourMs = 3_600_000
/** How often to look whether a backup is due, in milliseconds: another process may have made one. */
const lookEveryMs = 60_000
/** Between attempts after one has failed: the disk may be full until somebody makes room. */
const retryMs = { first: 60_000, most: hourMs }
/** How long to wait for projections that are behind. */
const drainMs = 600_000

type Scheduling = Pick<
  Core,
  | 'config'
  | 'databaseUrl'
  | 'life'
  | 'log'
  | 'logger'
  | 'now'
  | 'pool'
  | 'telemetry'
  | 'topics'
  | 'version'
>

/**
 * Makes backups at the configured interval, beginning now if one is due; returns the check of their age. Null if no
 * folder is configured. Throws `BackupRefused` if the folder is in the data directory.
 */
export async function startBackups(core: Scheduling): Promise<(() => Promise<Check>) | null> {
  const { config, life, logger, now } = core
  if (config.backupDir === null) return null
  const folder = resolve(config.backupDir)
  await refuseNested(config.dataDir, folder)
  // Before the first run starts: runs must not see its contents.
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch(err =>
    logger.error({ err, folder }, 'the folder of the backups cannot be made'),
  )
  const store = new BackupStore(folder)
  const intervalMs = config.backupIntervalHours * hourMs
  const pass = async (signal: AbortSignal) => {
    const last = await lastOf(store)
    const dueMs = last ? +last + intervalMs - +now() : 0
    if (dueMs > 0) return Math.min(dueMs, lookEveryMs)
    await backUp(core, folder, signal).catch(error => {
      // The next pass finds what the other process has made.
      if (!signal.aborted && !(error instanceof BackupUnderWay)) throw error
    })
    return lookEveryMs
  }
  const failed = (err: unknown) => logger.error({ err, folder }, 'the backup failed, will retry')
  const backups = repeat(pass, { failed, retryMs })
  life.owns('backups', backups, started => started.stop())
  gaugeLast(core, store)
  const began = now()
  return () => checkAge(store, { now: now(), began, intervalMs })
}

async function backUp(core: Scheduling, folder: string, signal: AbortSignal): Promise<void> {
  const { config, databaseUrl: url, log, logger, now, pool, topics, version } = core
  const made = await makeBackup({
    ...{ config, url, folder, version, now, signal },
    keep: config.backupKeep,
    progress: silent,
    async drained() {
      if (config.kafkaBrokers.length > 0)
        await drained({ log, topics, pool, signal, withinMs: drainMs })
    },
  })
  logger.info({ ...made }, 'backup made')
}

type Ages = { now: Date; began: Date; intervalMs: number }

/**
 * Degraded once the newest backup, or without one the start of this process, is older than two intervals. `lag_ms`: how
 * long the next one has been due.
 */
export async function checkAge(
  store: Pick<BackupStore, 'ids'>,
  { now, began, intervalMs }: Ages,
): Promise<Check> {
  const last = await lastOf(store)
  const ageMs = +now - +(last ?? began)
  return {
    ok: true,
    lag_ms: Math.max(0, ageMs - intervalMs),
    last_success: last?.toISOString() ?? null,
    ...(ageMs > 2 * intervalMs && { degraded: true }),
  }
}

const lastOf = async (store: Pick<BackupStore, 'ids'>): Promise<Date | null> =>
  timeOf((await store.ids()).at(-1) ?? '')

function gaugeLast({ telemetry }: Scheduling, store: BackupStore): void {
  new Gauge({
    name: 'forge_backup_last_success_timestamp_seconds',
    help: 'When the newest backup in SERVICE_BACKUP_DIR began, in Unix time; 0 if there is none.',
    registers: [telemetry.registry],
    async collect() {
      const last = await lastOf(store).catch(() => null)
      this.set(last ? +last / 1000 : 0)
    },
  })
}
