import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import type { Pool } from 'pg'
import { pino } from 'pino'
import { authenticator } from '../../auth/authenticate.ts'
import { engineHeaders } from '../../auth/engine-header.ts'
import { judgeTokens } from '../../auth/judge-token.ts'
import { keyFolder } from '../../auth/key-folder.ts'
import { loadKeys } from '../../auth/keys.ts'
import { oidcOf } from '../../auth/oidc-settings.ts'
import type { Route } from '../../auth/route.ts'
import { openSealingKeys } from '../../auth/sealing-keys.ts'
import { secondFactorPolicy } from '../../auth/second-factor.ts'
import { announce, type Listeners } from '../../command-api/announcements.ts'
import { createFactAppends } from '../../command-api/commit/append-fact.ts'
import type { Deps } from '../../command-api/deps.ts'
import { createQueueBook } from '../../command-api/jobs/queue-book.ts'
import { createKeyLimit } from '../../command-api/metrics/key-limit.ts'
import { createReports } from '../../command-api/rules/admit-report.ts'
import { openPluginCalls } from '../../command-api/rules/plugin-calls.ts'
import { createShortNumbers } from '../../command-api/rules/short-numbers.ts'
import { topicsOf } from '../../events/topics.ts'
import { noHosts } from '../../platform/http/allowed-hosts.ts'
import { openOutgoing } from '../../platform/http/outgoing.ts'
import { listen } from '../../platform/http/server.ts'
import { httpShell } from '../../platform/http/shell.ts'
import { addressKeyOf } from '../../platform/http/signed-address.ts'
import { createMemoryLog } from '../../platform/log/memory.ts'
import { DirectoryStore } from '../../platform/objects/directory.ts'
import { createRateLimits } from '../../platform/rate-limits.ts'
import { inProcessSignals, type Signals } from '../../platform/signals.ts'
import { telemetry } from '../../platform/telemetry.ts'
import { eventId, prefixedId } from '../../platform/time.ts'
import type { WakeUps } from '../../schemas/wake-ups.ts'
import { type Config, readConfig } from '../../server/settings/config.ts'
import { type CallOptions, callApi, type Reply } from './api.ts'
import { eventStoreOn } from './event-store.ts'

/** The dependencies of routes, on a real database and the clock of a test. */
export type RouteParts = { deps: Deps; signals: Signals<WakeUps>; config: Config }

export async function routeParts(
  t: ExecutionContext,
  pool: Pool,
  now: () => Date,
  env: Record<string, string> = {},
): Promise<RouteParts> {
  const dataDir = await mkdtemp(join(tmpdir(), 'forge-routes-'))
  t.teardown(() => rm(dataDir, { recursive: true }))
  const topics = topicsOf('test')
  const signals = inProcessSignals<WakeUps>()
  const config = readConfig(env)
  const uploads = new DirectoryStore(join(dataDir, 'uploads'))
  await uploads.open()
  const queue = createQueueBook({ pool, now, failed: error => t.log(error) })
  const listeners: Listeners = {
    access: username => signals.publish('access', { username }),
    serving: () => signals.publish('serving', {}),
    executor: () => {},
    queue,
  }
  const logger = pino({ level: 'silent' })
  const sealing = await openSealingKeys(await keyFolder(join(dataDir, 'keys')), now())
  const outgoing = openOutgoing({ trusted: null })
  t.teardown(() => outgoing.close())
  const deps: Deps = {
    store: eventStoreOn(pool, { recorded: events => announce(events, listeners) }),
    pool,
    now,
    newId: prefixedId,
    config: { ...config, oidc: oidcOf(config) },
    keys: await loadKeys(dataDir),
    sealing,
    logger,
    reports: createReports(pool, now),
    ...createFactAppends(createMemoryLog(Object.values(topics)), eventId),
    metricKeys: createKeyLimit({ count: async () => new Map(), missing: async () => [] }),
    shortNumbers: createShortNumbers(pool),
    queue,
    uploads,
    artifacts: uploads,
    uploadKey: addressKeyOf(Buffer.alloc(32), 'uploads'),
    observe: async () => ({ lines: [], metrics: [], hardware: [] }),
    readRound: async () => null,
    ledger: { spent: async of => of.map(() => 0n), entry: async () => null },
    topics,
    newEventId: eventId,
    hub: null,
    plugins: openPluginCalls({
      ...{ pool, now, sealing, logger, outgoing, allowed: noHosts, newId: prefixedId },
    }),
    volumes: { local: join(dataDir, 'volumes'), slurm: null },
    ingestedPoints: () => {},
    servingChanged: listeners.serving,
    engineHeaders: engineHeaders(Buffer.alloc(32)),
    judgeTokens: judgeTokens(Buffer.alloc(32)),
    baseUrl: () => config.baseUrl ?? 'http://forge.test',
  }
  return { deps, signals, config }
}

/** Serves routes on a free port until the test ends; returns their address. */
export async function serve(
  t: ExecutionContext,
  { deps, signals, config }: RouteParts,
  routes: readonly Route[],
): Promise<string> {
  const { pool, keys, now, baseUrl, logger } = deps
  const authenticate = authenticator({
    pool,
    keys,
    now,
    idleHours: config.sessionIdleHours,
    providerName: oidcOf(config)?.name ?? null,
    metricsToken: null,
    baseUrl,
    secondFactor: secondFactorPolicy(config),
    onAccessChanged: listener => signals.subscribe('access', ({ username }) => listener(username)),
  })
  const app = httpShell({
    routes,
    authenticate,
    log: logger,
    metrics: telemetry().http,
    trustedProxyHops: config.trustedProxyHops,
    admit: () => {},
    count: createRateLimits({ pool, schema: 'auth', redis: null, prefix: 'test', logger }).count,
  })
  const server = await listen('127.0.0.1', 0)
  server.serve(app)
  t.teardown(() => server.close())
  return `http://127.0.0.1:${server.port}`
}

export type CallInTurns = <T = Record<string, unknown>>(
  method: string,
  path: string,
  options?: CallOptions,
) => Promise<Reply<T>>

/** Serves routes on two servers and calls them alternately, so that tests fail if state is kept in one process. */
export async function serveInTurns(
  t: ExecutionContext,
  parts: RouteParts,
  routes: readonly Route[],
): Promise<CallInTurns> {
  const urls = await Promise.all([serve(t, parts, routes), serve(t, parts, routes)])
  let calls = 0
  return (method, path, options) => callApi(urls[calls++ % 2] ?? '', method, path, options)
}
