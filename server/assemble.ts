import type { Logger } from 'pino'
import { createPasswords } from '../auth/passwords.ts'
import type { Route } from '../auth/route.ts'
import { createFirstAdmin } from '../command-api/sessions/first-admin.ts'
import { createLifetime, type Lifetime } from '../platform/lifetime.ts'
import { createRateLimits } from '../platform/rate-limits.ts'
import type { Config, Role } from './config.ts'
import { openCore } from './core.ts'
import { startEffects } from './effects.ts'
import { openExecutor, runExecutor } from './executor.ts'
import { serveHttp } from './http.ts'
import type { Parts } from './parts.ts'
import { openProjectionAdmin, startLogRetention, startRunners } from './read-side.ts'
import { openWriteSide, startKeepers } from './write-side.ts'

export type Service = {
  /** Where people and runs reach it. */
  url: string
  /** What this process answers to. */
  routes: readonly Route[]
  /** The first administrator, where this start made one; `password` null where it was configured. */
  firstAdmin: { username: string; password: string | null } | null
  stop(): Promise<void>
}

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
  if (has('projector')) startLogRetention(core)
  const passwords = await createPasswords()
  const firstAdmin = has('command-api') ? await createFirstAdmin(deps, passwords) : null
  if (has('command-api')) {
    startKeepers(core, deps)
    startEffects(core, deps)
  }
  const executor = has('executor') ? await openExecutor(core, deps) : null
  let draining = false
  const parts: Parts = {
    ...core,
    passwords,
    deps,
    runners,
    projectionAdmin: openProjectionAdmin(core, runners),
    rateLimits: createRateLimits({ ...core, schema: 'auth', prefix: config.topicPrefix }),
    isDraining: () => draining,
  }
  const { port, routes } = await serveHttp(parts)
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
