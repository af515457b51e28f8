import { newFollowers } from '../../command-api/compose.ts'
import type { Deps } from '../../command-api/deps.ts'
import { startSchedules } from '../../command-api/duties/schedules.ts'
import { offsetsNeeded } from '../../command-api/followers/offsets-needed.ts'
import type { ProjectionAdmin } from '../../command-api/projections/routes.ts'
import { logTrimmer, type TrimLog } from '../../command-api/projections/trim-log.ts'
import { migrate } from '../../platform/postgres/migrate.ts'
import { createPool, type PoolOptions } from '../../platform/postgres/pool.ts'
import { projections } from '../../projector/compose.ts'
import { startThinning } from '../../projector/hardware/thin.ts'
import { isAnyDue } from '../../projector/metrics/compact.ts'
import { startCompactorThread } from '../../projector/metrics/compactor.ts'
import { projectionAdmin } from '../../projector/rebuild/admin.ts'
import { type Runner, startRunner } from '../../projector/runner/runner.ts'
import { startRetainingTraffic } from '../../projector/traffic/retain.ts'
import { projectionsRead, trimLog } from '../../projector/trim-log.ts'
import type { Core } from '../core.ts'
import { readMigrations } from '../database/migrations.ts'
import { prepareGeneration } from '../database/rights.ts'
import { gaugeDeadLetters } from './dead-letters.ts'
import { performDuties } from './effects.ts'

/** The process that adds a duty performs it at once; only failed ones wait for the next poll. */
const trimPollMs = 60_000

/** Starts a runner for each projection, and the compactor of metric points. */
export function startRunners(core: Core): Runner[] {
  const { config, addresses, logger, life, now, readPool, topics, log, signals, measures } = core
  life.owns(
    'metric compactor',
    startCompactorThread({ databaseUrl: addresses.projector, searchPath: 'read' }, logger, () =>
      isAnyDue(readPool, now()),
    ),
    compactor => compactor.stop(),
  )
  life.owns(
    'thinning of hardware',
    startThinning({ pool: readPool, rawDays: config.hardwareRawDays, logger, now }),
    thinning => thinning.stop(),
  )
  life.owns(
    'retention of traffic',
    startRetainingTraffic({ pool: readPool, days: config.trafficDays, logger, now }),
    retaining => retaining.stop(),
  )
  gaugeDeadLetters(core)
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
export function startLogRetention(core: Core, deps: Deps): void {
  const { life, logger, pool, topics, trimLog: trim } = core
  if (trim === null) return
  const following = newFollowers().map(({ name, topic }) => ({ name, topic: topics[topic].name }))
  const trimming = {
    pool,
    trim,
    topics: Object.values(topics),
    readers: [
      projectionsRead(pool, projections(topics)),
      offsetsNeeded({ pool, followers: following, logger }),
    ],
    logger,
    now: deps.now,
  }
  const reactors = [logTrimmer]
  const duties = performDuties<TrimLog>(core, deps, {
    reactors,
    work: () => trimLog(trimming),
    pollMs: trimPollMs,
  })
  life.owns('log retention', duties, started => started.stop())
  const dutiesAdded = duties.wake
  const schedules = startSchedules({ pool, reactors, now: deps.now, logger, dutiesAdded })
  life.owns('log retention schedule', schedules, started => started.stop())
}

/** The administrators' operations on projections: show progress, rebuild. */
export function openProjectionAdmin(core: Core, runners: readonly Runner[]): ProjectionAdmin {
  const { databaseUrl, life, readPool, log, logger, now, topics } = core
  // As the owner: a rebuild creates, renames and drops schemas. With large tables, its statements take long.
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
    now,
    rebuild: {
      pool,
      log,
      logger,
      openPool: schema => open({ searchPath: schema, isDurable: false }),
      async createSchema(schema) {
        await migrate(databaseUrl, [{ schema, folder: readMigrations }])
        await prepareGeneration(databaseUrl, schema)
      },
      projections: () => projections(topics),
      startCompactor: searchPath => startCompactorThread({ databaseUrl, searchPath }, logger),
      now,
      signal: stopping.signal,
    },
  })
}
