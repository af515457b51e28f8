import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { type KeyRing, loadKeys, watchKeys } from '../auth/keys.ts'
import { createPasswords } from '../auth/passwords.ts'
import type { Route } from '../auth/route.ts'
import { createReports } from '../command-api/admit-report.ts'
import { createFactLane } from '../command-api/append-fact.ts'
import type { Deps } from '../command-api/deps.ts'
import { postgresEventStore } from '../command-api/event-store.ts'
import { startJobKeeper } from '../command-api/jobs/timers.ts'
import type { ProjectionAdmin } from '../command-api/projections/routes.ts'
import { type Relay, startRelay } from '../command-api/relay.ts'
import { startRunKeeper } from '../command-api/runs/timers.ts'
import { createFirstAdmin } from '../command-api/sessions/first-admin.ts'
import { decisionEvents } from '../events/all.ts'
import type { Config, Role } from '../platform/config.ts'
import { createLifetime, type Lifetime } from '../platform/lifetime.ts'
import type { EventLog } from '../platform/log/event-log.ts'
import { openKafkaLog } from '../platform/log/kafka.ts'
import { openPostgresLog } from '../platform/log/postgres.ts'
import { type Topics, topicsOf } from '../platform/log/topics.ts'
import { startEmbeddedPostgres } from '../platform/postgres/embedded.ts'
import { migrate } from '../platform/postgres/migrate.ts'
import { createPool } from '../platform/postgres/pool.ts'
import { prepareReaderRole } from '../platform/postgres/reader-role.ts'
import { createRateLimits, type RateLimits } from '../platform/rate-limits.ts'
import { recentWrites } from '../platform/recent-writes.ts'
import { openRedis, type RedisClient } from '../platform/redis.ts'
import { inProcessSignals, type Signals } from '../platform/signals.ts'
import { openRedisSignals } from '../platform/signals-redis.ts'
import { type Telemetry, telemetry } from '../platform/telemetry.ts'
import { eventId, prefixedId, systemClock } from '../platform/time.ts'
import { projectionAdmin } from '../projector/admin.ts'
import { startCompactorThread } from '../projector/metrics/compactor.ts'
import { type Runner, startRunner } from '../projector/runner.ts'
import { projections } from '../projector/slices.ts'
import type { ReadsOptions } from '../query-api/reads.ts'
import { builtInRecipes, type CatalogueEntry, loadCatalogue } from '../recipes/catalogue.ts'
import { openExecutor, runExecutor } from './run-executor.ts'
import { serveHttp } from './serve-http.ts'

export type Service = {
  /** Where people and runs reach it. */
  url: string
  /** What this process answers to. */
  routes: readonly Route[]
  /** The first administrator, where this start made one; `password` null where it was configured. */
  firstAdmin: { username: string; password: string | null } | null
  stop(): Promise<void>
}

/** What every role works with, made once. `config.dataDir` is absolute. */
export type Core = {
  config: Config
  logger: Logger
  version: string
  life: Lifetime
  telemetry: Telemetry
  signals: Signals
  /** Null where none is configured. It may go away at any time: whatever is asked of it has an answer without. */
  redis: RedisClient | null
  databaseUrl: string
  /** Connections of the write side. */
  pool: Pool
  /** Connections of the read side: their search path is the live generation. */
  readPool: Pool
  /** Reads for people; `role` null: the database has no second wall (docs/adr/0009-second-wall.md). */
  peoplesReads: ReadsOptions
  topics: Topics
  log: EventLog
  /** Known once the listener has its port. */
  baseUrl: { value: string }
  /** The recipes that come with Forge. */
  catalogue: readonly CatalogueEntry[]
  /** Tells the executor of this process, once there is one, to look at the jobs at once. */
  jobsChanged: { tell: () => void }
}

/** The parts that the routes of this process stand on. */
export type Parts = Core & {
  deps: Deps
  runners: readonly Runner[]
  projectionAdmin: ProjectionAdmin
  rateLimits: RateLimits
  isDraining: () => boolean
}

const root = join(import.meta.dirname, '..')
const readMigrations = join(root, 'projector/migrations')

/** The schemas of an installation, in the order in which they are brought up to date. */
export const migrationSets = [
  { schema: 'auth', folder: join(root, 'auth/migrations') },
  { schema: 'log', folder: join(root, 'platform/log/migrations') },
  { schema: 'write', folder: join(root, 'command-api/migrations') },
  { schema: 'read', folder: readMigrations },
]

/**
 * Starts the roles of this process and answers when they serve. What was started is stopped again when a
 * later part fails.
 */
export async function assemble(config: Config, logger: Logger, version: string): Promise<Service> {
  const life = createLifetime(logger)
  try {
    return await startParts(config, logger, life, version)
  } catch (error) {
    await life.end()
    throw error
  }
}

async function startParts(
  config: Config,
  logger: Logger,
  life: Lifetime,
  version: string,
): Promise<Service> {
  const has = (role: Role) => config.roles.includes(role)
  const core = await openCore(config, logger, life, version)
  const deps = await openWriteSide(core)
  const runners = has('projector') ? startRunners(core) : []
  const passwords = await createPasswords()
  const firstAdmin = has('command-api') ? await createFirstAdmin(deps, passwords) : null
  if (has('command-api')) startKeepers(core, deps)
  const executor = has('executor') ? await openExecutor(core, deps) : null
  let draining = false
  const parts: Parts = {
    ...core,
    deps,
    runners,
    projectionAdmin: openProjectionAdmin(core, runners),
    rateLimits: createRateLimits({ ...core, prefix: config.topicPrefix }),
    isDraining: () => draining,
  }
  const { port, routes } = await serveHttp(parts, passwords)
  core.baseUrl.value = config.baseUrl ?? `http://localhost:${port}`
  if (executor) runExecutor(core, deps, executor)
  return {
    url: core.baseUrl.value,
    routes,
    firstAdmin,
    async stop() {
      draining = true
      await life.end()
    },
  }
}

function startKeepers({ life, jobsChanged }: Core, deps: Deps): void {
  life.owns('run keeper', startRunKeeper(deps), started => started.stop())
  const jobKeeper = startJobKeeper(deps, () => jobsChanged.tell())
  life.owns('job keeper', jobKeeper, started => started.stop())
}

/** Opens the database, embedded where none was named, brings its schemas up to date, and opens the log. */
async function openCore(
  given: Config,
  logger: Logger,
  life: Lifetime,
  version: string,
): Promise<Core> {
  const config = { ...given, dataDir: resolve(given.dataDir) }
  await mkdir(config.dataDir, { recursive: true })
  const redis = openRedisOf(config, logger, life)
  const signals = life.owns('signals', await openSignals(config, logger, redis), opened =>
    opened.close(),
  )
  const databaseUrl = config.databaseUrl ?? (await embedded(config.dataDir, logger, life))
  await migrate(databaseUrl, migrationSets)
  const readerRole = await prepareReaderRole(databaseUrl, 'read')
  if (readerRole.role === null) warnOfOneWall(logger, readerRole.why)
  const open = (name: string, searchPath?: string) =>
    life.owns(
      `pool ${name}`,
      createPool(databaseUrl, {
        max: 16,
        applicationName: `forge ${name}`,
        ...(searchPath && { searchPath }),
      }),
      pool => pool.end(),
    )
  const topics = topicsOf(config.topicPrefix)
  const log = life.owns('log', await openLog(config, databaseUrl, topics), opened => opened.close())
  return {
    config,
    logger,
    version,
    life,
    telemetry: telemetry(),
    signals,
    redis,
    databaseUrl,
    pool: open('write'),
    readPool: open('read', 'read'),
    peoplesReads: { pool: open('query', 'read'), role: readerRole.role },
    topics,
    log,
    catalogue: await loadCatalogue(builtInRecipes),
    jobsChanged: { tell: () => {} },
    baseUrl: { value: config.baseUrl ?? `http://localhost:${config.port}` },
  }
}

/** Said at every start: nothing else tells an operator that a slip in a query would show people each other's rows. */
const warnOfOneWall = (logger: Logger, why: string) =>
  logger.warn(
    { why },
    'The second wall is off: row-level security does not hold for reads, only the filters of the queries do. ' +
      'As a superuser: CREATE ROLE forge_reader NOLOGIN; GRANT forge_reader TO <the user of SERVICE_DATABASE_URL>; then start again.',
  )

async function embedded(dataDir: string, logger: Logger, life: Lifetime): Promise<string> {
  const postgres = await startEmbeddedPostgres({ directory: join(dataDir, 'postgres'), logger })
  life.owns('postgres', postgres, started => started.stop())
  return postgres.url
}

function openRedisOf({ redisUrl }: Config, logger: Logger, life: Lifetime): RedisClient | null {
  if (redisUrl === null) return null
  return life.owns('redis', openRedis(redisUrl, logger), async opened => opened.destroy())
}

/** Between processes by Redis, where one is named; within this one otherwise. */
async function openSignals(
  { topicPrefix }: Config,
  logger: Logger,
  redis: RedisClient | null,
): Promise<Signals> {
  if (redis === null) return inProcessSignals()
  return openRedisSignals({ redis, prefix: topicPrefix, logger })
}

function openLog(
  { kafkaBrokers: brokers }: Config,
  url: string,
  topics: Topics,
): Promise<EventLog> {
  if (brokers.length > 0)
    return openKafkaLog({ brokers, clientId: 'forge', topics: Object.values(topics) })
  return openPostgresLog({ url, topics: Object.values(topics) })
}

/** The event store, and the relay behind it where this process has that role. */
async function openWriteSide(core: Core): Promise<Deps> {
  const { config, logger, life, pool, log, topics } = core
  let relay: Relay | null = null
  if (config.roles.includes('relay'))
    relay = life.owns(
      'relay',
      startRelay({ pool, log, topic: topics.decisions.name, logger }),
      started => started.stop(),
    )
  return {
    store: postgresEventStore({
      pool,
      definitions: decisionEvents,
      newEventId: eventId,
      committed: () => relay?.wake(),
    }),
    pool,
    now: systemClock,
    newId: prefixedId,
    config,
    keys: await openKeys(core),
    logger,
    recentWrites: recentWrites(),
    reports: createReports(pool, systemClock),
    facts: createFactLane(log),
    topics,
    newEventId: eventId,
    ingestedPoints: count => core.telemetry.ingestedPoints.inc(count),
    accessChanged: core.signals.publishAccess,
    baseUrl: () => core.baseUrl.value,
  }
}

async function openKeys({ config, life, logger }: Core): Promise<KeyRing> {
  const keys = await loadKeys(config.dataDir)
  const watch = watchKeys(keys, {
    now: systemClock,
    tokenSeconds: config.jwtHours * 3600,
    failed: error => logger.warn({ err: error }, 'the signing keys could not be looked at'),
  })
  life.owns('key watch', watch, started => started.stop())
  return keys
}

function startRunners({
  databaseUrl,
  logger,
  life,
  readPool,
  topics,
  log,
  signals,
  telemetry: measured,
}: Core): Runner[] {
  life.owns(
    'metric compactor',
    startCompactorThread({ databaseUrl, searchPath: 'read' }, logger),
    compactor => compactor.stop(),
  )
  const onDeadLetter = (topic: string) => measured.deadLetters.inc({ topic })
  return projections(topics).map(projection =>
    life.owns(
      `projection ${projection.name}`,
      startRunner(projection, { pool: readPool, log, signals, logger, onDeadLetter }),
      runner => runner.stop(),
    ),
  )
}

function openProjectionAdmin(core: Core, runners: readonly Runner[]): ProjectionAdmin {
  const { databaseUrl, pool, readPool, log, logger, topics } = core
  const stopping = new AbortController()
  core.life.owns('rebuild', stopping, async controller => controller.abort())
  return projectionAdmin({
    readPool,
    log,
    runners,
    now: systemClock,
    rebuild: {
      pool,
      log,
      logger,
      openPool: schema =>
        createPool(databaseUrl, { max: 4, searchPath: schema, applicationName: 'forge rebuild' }),
      async createSchema(schema) {
        await migrate(databaseUrl, [{ schema, folder: readMigrations }])
        await prepareReaderRole(databaseUrl, schema)
      },
      projections: () => projections(topics),
      signal: stopping.signal,
    },
  })
}
