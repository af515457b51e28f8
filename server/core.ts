import { join, resolve } from 'node:path'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { Following } from '../command-api/followers/run.ts'
import type { Relay } from '../command-api/relay/relay.ts'
import { type Topics, topicsOf } from '../events/topics.ts'
import type { TryOut } from '../executor/node/isolation-trial.ts'
import { type DiskRoom, watchDiskRoom } from '../platform/disk-room.ts'
import type { Lifetime } from '../platform/lifetime.ts'
import type { EventLog } from '../platform/log/event-log.ts'
import { openedLater } from '../platform/log/opened-later.ts'
import { openPostgresLog, type PostgresLog } from '../platform/log/postgres.ts'
import { watchConnections } from '../platform/postgres/connections.ts'
import { startEmbeddedPostgres } from '../platform/postgres/embedded.ts'
import { migrate, type Step } from '../platform/postgres/migrate.ts'
import { createPool, type PoolOptions } from '../platform/postgres/pool.ts'
import { openRedis, type RedisClient } from '../platform/redis.ts'
import type { Signals } from '../platform/signals.ts'
import { type Telemetry, telemetry } from '../platform/telemetry.ts'
import type { Clock } from '../platform/time.ts'
import type { ReadsOptions } from '../query-api/reading/reads.ts'
import {
  builtInRecipes,
  type CatalogueEntry,
  loadCatalogue,
  sortedEntries,
} from '../recipes/catalogue.ts'
import { LiveCatalogue } from '../recipes/live-catalogue.ts'
import { builtInTemplates, loadTemplates } from '../recipes/templates.ts'
import { UploadedFiles } from '../recipes/uploaded-files.ts'
import type { WakeUps } from '../schemas/wake-ups.ts'
import { closeDataDirectory, makeDataDirectory, recipesIn } from './data-directory.ts'
import { migrationSets } from './database/migrations.ts'
import { type Addresses, prepareRights, type Rights } from './database/rights.ts'
import { warnIfExposed } from './exposure.ts'
import { type Measures, measuresIn } from './measures.ts'
import { type Config, isGatewayAlone } from './settings/config.ts'
import { kafkaSecurityOf } from './settings/kafka.ts'
import { openSignals } from './signals.ts'

/** The parts that all roles share. `config.dataDir` is absolute, `config.port` the actual one. */
export type Core = {
  config: Config
  logger: Logger
  version: string
  /** The clock of everything in this process, except code that only measures durations. */
  now: Clock
  /** How long a read waits for its caller's writes. */
  readWaitMs: number
  /** Tries whether an isolation of runs holds on this machine. */
  tryIsolation: TryOut
  life: Lifetime
  telemetry: Telemetry
  measures: Measures
  signals: Signals<WakeUps>
  /** Null if none is configured. It may become unreachable at any time, so every use has a fallback. */
  redis: RedisClient | null
  /** The owner's address: for migrations, rebuilds and backups. */
  databaseUrl: string
  /** The addresses of the roles as which all other work runs. */
  addresses: Addresses
  /** Connections of the write side. */
  pool: Pool
  /** Like `pool`, but a commit does not wait for the disk. */
  loosePool: Pool
  /** Connections of the read side, with the live generation as search path. */
  readPool: Pool
  /** Reads for people; `role` is null without row-level security (docs/adr/0009-row-level-security.md). */
  peoplesReads: ReadsOptions
  /** Throw while the pools of `pool` and `peoplesReads` get no connections. */
  hasConnections: Record<'commands' | 'reads', () => Promise<void>>
  topics: Topics
  log: EventLog
  /** Null if the log trims itself (Kafka). */
  trimLog: PostgresLog['trim'] | null
  /** The space on the disk of the data directory. */
  diskRoom: DiskRoom
  /** The address for people and runs. */
  baseUrl: string
  /** The recipes that come with Forge, and uploaded ones. */
  catalogue: LiveCatalogue
  recipeFiles: UploadedFiles
  /** Wakes the executor of this process; does nothing before it is started. */
  jobsChanged: { tell: () => void }
  /** Wakes the performer of duties in this process; does nothing before it is started. */
  dutiesAdded: { tell: () => void }
  /** The running followers of this process. */
  followers: Following[]
  /** The relay, in a process with that role. */
  relay: { current: Relay | null }
}

/** The inputs of the core. */
export type Opening = Pick<
  Core,
  'logger' | 'life' | 'version' | 'now' | 'readWaitMs' | 'tryIsolation'
> & {
  /** Called before each migration. */
  migrating(step: Step): void
}

/** Opens the database (the embedded one if none is configured), migrates its schemas, and opens the log. */
export async function openCore(given: Config, opening: Opening): Promise<Core> {
  const { migrating, ...shared } = opening
  const { logger, life, now } = opening
  const config = { ...given, dataDir: resolve(given.dataDir) }
  await makeDataDirectory(config.dataDir)
  await closeDataDirectory(config.dataDir, logger)
  const diskRoom = await openDiskRoom(config, logger, life)
  warnIfExposed(config, logger)
  const redis = await openRedisOf(config, logger, life)
  const signals = await openSignals({ redis, prefix: config.topicPrefix, logger })
  life.owns('signals', signals, opened => opened.close())
  const databaseUrl = config.databaseUrl ?? (await embedded(config.dataDir, logger, life))
  await migrate(databaseUrl, migrationSets, step => {
    logger.info({ version: opening.version, ...step }, 'migrating the database')
    migrating(step)
  })
  const { addresses, reader, ...lacks } = await prepareRights(databaseUrl)
  warnWithoutRights(logger, lacks)
  const open = (who: keyof Addresses, name: string, options: Partial<PoolOptions> = {}) =>
    life.owns(
      `pool ${name}`,
      createPool(addresses[who], { max: 16, applicationName: `forge ${name}`, ...options }),
      pool => pool.end(),
    )
  const topics = topicsIn(config)
  const log = life.owns('log', await openLog(config, addresses.commands, topics), opened =>
    opened.close(),
  )
  const measured = telemetry()
  const pool = open('commands', 'write', { isPipelined: true })
  const queryPool = open('queries', 'query', { searchPath: 'read' })
  const files = new UploadedFiles(recipesIn(config))
  await files.open(now())
  return {
    ...shared,
    config,
    telemetry: measured,
    measures: measuresIn(measured.registry),
    signals,
    redis,
    databaseUrl,
    addresses,
    pool,
    loosePool: open('commands', 'write loosely', { max: 2, isDurable: false }),
    // The projector's batches are 4 MiB, and may have to wait while a rebuild flips generations.
    readPool: open('projector', 'read', {
      searchPath: 'read',
      statementTimeoutMs: 60_000,
      lockTimeoutMs: 30_000,
    }),
    peoplesReads: { pool: queryPool, role: reader },
    hasConnections: { commands: watchConnections(pool), reads: watchConnections(queryPool) },
    topics,
    log,
    trimLog: 'trim' in log ? log.trim : null,
    catalogue: await openCatalogue(pool, files, logger),
    recipeFiles: files,
    jobsChanged: { tell: () => {} },
    dutiesAdded: { tell: () => {} },
    followers: [],
    relay: { current: null },
    diskRoom,
    baseUrl: config.baseUrl ?? `http://localhost:${config.port}`,
  }
}

export const topicsIn = ({ topicPrefix, logRetentionDays, logMaxGb }: Config): Topics =>
  topicsOf(topicPrefix, {
    days: logRetentionDays,
    maxBytes: logMaxGb === 0 ? null : logMaxGb * 1024 ** 3,
  })

let builtIn: Promise<CatalogueEntry[]> | null = null

/** Read once per process, like the code next to them. */
function loadBuiltIn(): Promise<CatalogueEntry[]> {
  builtIn ??= Promise.all([loadCatalogue(builtInRecipes), loadTemplates(builtInTemplates)]).then(
    ([recipes, templates]) => sortedEntries([...recipes, ...templates]),
  )
  return builtIn
}

const openCatalogue = async (pool: Pool, files: UploadedFiles, logger: Logger) =>
  new LiveCatalogue({
    builtIn: await loadBuiltIn(),
    pool,
    files,
    nowMs: () => performance.now(),
    noticed: (what, recipe, err) => logger.warn({ ...recipe, err }, what),
  })

/** Warns at every start: a faulty query could show people each other's rows, or do all that the user may. */
function warnWithoutRights(
  logger: Logger,
  { withoutReader, withoutRoles }: Pick<Rights, 'withoutReader' | 'withoutRoles'>,
): void {
  if (withoutReader !== null)
    logger.warn(
      { why: withoutReader },
      'Row-level security is off: only the filters of the queries protect reads. ' +
        'As a superuser: CREATE ROLE forge_reader NOLOGIN; GRANT forge_reader TO <the user of SERVICE_DATABASE_URL>; then start again.',
    )
  if (withoutRoles !== null)
    logger.warn(
      { why: withoutRoles },
      'All work in the database runs with the rights of the user of SERVICE_DATABASE_URL. ' +
        'As a superuser: ALTER ROLE <that user> CREATEROLE; then start again (docs/operate/install.md#your-own-postgresql).',
    )
}

async function openDiskRoom(
  { dataDir, diskReserveMb }: Config,
  logger: Logger,
  life: Lifetime,
): Promise<DiskRoom> {
  const reserve = join(dataDir, 'reserve')
  const watched = await watchDiskRoom({ reserve, reserveBytes: diskReserveMb * 1024 ** 2, logger })
  return life.owns('disk', watched, opened => opened.stop())
}

async function embedded(dataDir: string, logger: Logger, life: Lifetime): Promise<string> {
  const postgres = await startEmbeddedPostgres({ directory: join(dataDir, 'postgres'), logger })
  life.owns('postgres', postgres, started => started.stop())
  return postgres.url
}

async function openRedisOf(
  { redisUrl }: Config,
  logger: Logger,
  life: Lifetime,
): Promise<RedisClient | null> {
  if (redisUrl === null) return null
  return life.owns('redis', await openRedis(redisUrl, logger), async opened => opened.destroy())
}

/** The log of an installation: Kafka if there are brokers, else its database. */
export async function openLog(
  config: Config,
  url: string,
  topics: Topics,
): Promise<EventLog | PostgresLog> {
  const { kafkaBrokers: brokers } = config
  if (brokers.length === 0) return openPostgresLog({ url, topics: Object.values(topics) })
  const security = kafkaSecurityOf(config)
  const { openKafkaLog } = await import('../platform/log/kafka.ts')
  const open = () =>
    openKafkaLog({ brokers, clientId: 'forge', topics: Object.values(topics), security })
  return isGatewayAlone(config) ? openedLater(open) : open()
}
