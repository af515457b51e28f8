import type { Logger } from 'pino'
import { createPasswords } from '../auth/passwords.ts'
import { readPositionKey } from '../auth/position-key.ts'
import type { Route } from '../auth/route.ts'
import { sealEarlierEnvs } from '../command-api/jobs/sealed-env.ts'
import { createFirstAdmin } from '../command-api/sessions/first-admin.ts'
import { type TryOut, tryOut } from '../executor/node/isolation-trial.ts'
import { listen } from '../platform/http/server.ts'
import { addressKeyOf } from '../platform/http/signed-address.ts'
import { createLifetime } from '../platform/lifetime.ts'
import { untilAborted } from '../platform/pause.ts'
import { createRateLimits } from '../platform/rate-limits.ts'
import { keepHeapSmall } from '../platform/small-heap.ts'
import { type Clock, systemClock } from '../platform/time.ts'
import { usualWaitMs } from '../query-api/reading/wait.ts'
import { startBackups } from './backup/schedule.ts'
import { consoleAssets } from './console/assets.ts'
import { type Opening, openCore } from './core.ts'
import { serveHttp } from './http/http.ts'
import type { Parts } from './http/parts.ts'
import { watchProgress } from './progress.ts'
import { startEffects } from './roles/effects.ts'
import { openExecutor, runExecutor } from './roles/executor.ts'
import { openGateway } from './roles/gateway.ts'
import { openProjectionAdmin, startLogRetention, startRunners } from './roles/read-side.ts'
import { openWriteSide, startTimers } from './roles/write-side.ts'
import { type Config, isGatewayAlone, type Role } from './settings/config.ts'

export type Service = {
  /** The address for people and runs. */
  url: string
  /** The routes that this process serves. */
  routes: readonly Route[]
  /** The first administrator, if this start created one; `password` is null if it was configured. */
  firstAdmin: { username: string; password: string | null } | null
  stop(): Promise<void>
}

export type Assembling = {
  logger: Logger
  version: string
  /** Default: the system clock. */
  now?: Clock
  /** How long a read waits for its caller's writes, in milliseconds; default: the specification's value. */
  readWaitMs?: number
  /** Tries whether an isolation of runs holds; default: by running a small program. */
  tryIsolation?: TryOut
  /** Aborts the start; the embedded database may then end slightly later than this process. */
  signal?: AbortSignal
}

/**
 * Starts the roles of this process and resolves once they serve. If a part fails to start, those started before are
 * stopped again.
 */
export async function assemble(config: Config, assembling: Assembling): Promise<Service> {
  const { logger, version, now = systemClock, readWaitMs = usualWaitMs, signal } = assembling
  const { tryIsolation = tryOut } = assembling
  const life = createLifetime(logger)
  try {
    const starting = startParts(config, { logger, life, version, now, readWaitMs, tryIsolation })
    return await (signal ? Promise.race([starting, rejectedBy(signal)]) : starting)
  } catch (error) {
    await life.end()
    throw error
  }
}

async function rejectedBy(signal: AbortSignal): Promise<never> {
  await untilAborted(signal)
  throw new Error('The start was interrupted')
}

async function startParts(config: Config, opening: Omit<Opening, 'migrating'>): Promise<Service> {
  const { logger, life, version } = opening
  const has = (role: Role) => config.roles.includes(role)
  if (isGatewayAlone(config)) keepHeapSmall()
  // First of all, so that a start which finds the port busy has not created an administrator.
  const listener = await listen(config.host, config.port)
  life.owns('listener', listener, opened => opened.close())
  const building = has('query-api') ? consoleAssets(logger, config) : null
  const core = await openCore(
    { ...config, port: listener.port },
    {
      ...opening,
      migrating: ({ nth, total, schema, migration }) =>
        listener.starting(
          `The server is starting: it migrates the database to version ${version} (${nth} of ${total}: ${schema} ${migration})`,
        ),
    },
  )
  const deps = await openWriteSide(core)
  const runners = has('projector') ? startRunners(core) : []
  if (has('projector')) startLogRetention(core, deps)
  if (has('command-api')) await sealEarlierEnvs(core.pool, deps.sealing)
  const passwords = await createPasswords()
  const firstAdmin = has('command-api') ? await createFirstAdmin(deps, passwords) : null
  if (has('command-api')) {
    startTimers(core, deps)
    startEffects(core, deps)
  }
  const backups = has('command-api') ? await startBackups(core) : null
  const executors = has('executor') ? await openExecutor(core, deps) : null
  let draining = false
  const parts: Parts = {
    ...core,
    passwords,
    deps,
    isolation: executors?.isolation ?? null,
    runners,
    backups,
    progress: watchProgress(core, runners),
    projectionAdmin: openProjectionAdmin(core, runners),
    downloadKey: addressKeyOf(await readPositionKey(deps.pool), 'downloads'),
    rateLimits: createRateLimits({ ...core, schema: 'auth', prefix: config.topicPrefix }),
    assets: await building,
    isDraining: () => draining,
  }
  const gateway = has('gateway') ? await openGateway(core, deps, () => draining) : null
  const routes = await serveHttp(parts, listener, gateway)
  if (executors) runExecutor(core, deps, executors)
  return {
    url: core.baseUrl,
    routes,
    firstAdmin,
    async stop() {
      draining = true
      await life.end()
    },
  }
}
