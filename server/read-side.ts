import { followersRead } from '../command-api/followers-read.ts'
import type { ProjectionAdmin } from '../command-api/projections/routes.ts'
import { migrate } from '../platform/postgres/migrate.ts'
import { createPool, type PoolOptions } from '../platform/postgres/pool.ts'
import { prepareReaderRole } from '../platform/postgres/reader-role.ts'
import { systemClock } from '../platform/time.ts'
import { projectionAdmin } from '../projector/admin.ts'
import { startCompactorThread } from '../projector/metrics/compactor.ts'
import { type Runner, startRunner } from '../projector/runner.ts'
import { projections } from '../projector/slices.ts'
import { projectionsRead, startTrimmingLog } from '../projector/trim-log.ts'
import type { Core } from './core.ts'
import { readMigrations } from './migrations.ts'

/** Starts a runner for each projection, and the compactor of metric points. */
export function startRunners({
  databaseUrl,
  logger,
  life,
  readPool,
  topics,
  log,
  signals,
  measures,
}: Core): Runner[] {
  life.owns(
    'metric compactor',
    startCompactorThread({ databaseUrl, searchPath: 'read' }, logger),
    compactor => compactor.stop(),
  )
  const onDeadLetter = (topic: string) => measures.deadLetters.inc({ topic })
  return projections(topics).map(projection =>
    life.owns(
      `projection ${projection.name}`,
      startRunner(projection, { pool: readPool, log, signals, logger, onDeadLetter }),
      runner => runner.stop(),
    ),
  )
}

/** Enforces the retention of a log in Postgres; Kafka does so itself. */
export function startLogRetention({ life, logger, pool, topics, trimLog }: Core): void {
  if (trimLog === null) return
  const trimming = startTrimmingLog({
    pool,
    trim: trimLog,
    topics: Object.values(topics),
    readers: [projectionsRead(pool, projections(topics)), followersRead(pool)],
    logger,
    now: systemClock,
  })
  life.owns('log retention', trimming, started => started.stop())
}

/** What administrators can do with projections: see their progress, rebuild them. */
export function openProjectionAdmin(core: Core, runners: readonly Runner[]): ProjectionAdmin {
  const { databaseUrl, life, readPool, log, logger, topics } = core
  // With large tables, the statements of a rebuild take long.
  const open = (options: Partial<PoolOptions> = {}) =>
    createPool(databaseUrl, {
      max: 4,
      applicationName: 'forge rebuild',
      statementTimeoutMs: null,
      lockTimeoutMs: 30_000,
      ...options,
    })
  const stopping = new AbortController()
  const pool = life.owns('pool rebuild', open(), opened => opened.end())
  life.owns('rebuild', stopping, async controller => controller.abort())
  return projectionAdmin({
    readPool,
    log,
    runners,
    now: systemClock,
    rebuild: {
      pool,
      log,
      logger,
      openPool: schema => open({ searchPath: schema }),
      async createSchema(schema) {
        await migrate(databaseUrl, [{ schema, folder: readMigrations }])
        await prepareReaderRole(databaseUrl, schema)
      },
      projections: () => projections(topics),
      signal: stopping.signal,
    },
  })
}
