import type { Context } from 'koa'
import type { Pool } from 'pg'
import type { MaintenanceWatch } from '../../auth/maintenance.ts'
import { oidcOf } from '../../auth/oidc-settings.ts'
import type { Route } from '../../auth/route.ts'
import { secondFactorPolicy } from '../../auth/second-factor.ts'
import { commandRoutes } from '../../command-api/compose.ts'
import type { PasswordGuard } from '../../command-api/sessions/password-guard.ts'
import { basePathOf } from '../../platform/http/base-path.ts'
import { once } from '../../platform/once.ts'
import { createPool } from '../../platform/postgres/pool.ts'
import { readinessLog } from '../../platform/readiness.ts'
import { auditReader } from '../../query-api/audit/reader.ts'
import { queryRoutes, type ReadTables } from '../../query-api/compose.ts'
import { docsRoute } from '../../query-api/docs.ts'
import { generalRoutes } from '../../query-api/general.ts'
import { createReads } from '../../query-api/reading/reads.ts'
import type { OpenStream } from '../../query-api/sse/sse.ts'
import { lockOf } from '../../recipes/catalogue.ts'
import { annotationReader } from '../roles/annotation-reader.ts'
import { consequencesOf } from '../roles/consequences.ts'
import { openParkedRecords } from '../roles/dead-letters.ts'
import { templatesIn } from '../roles/replicas.ts'
import { apiDocument } from './api-document.ts'
import type { Parts } from './parts.ts'
import { readinessOf } from './readiness.ts'

/** Parts of the listener that serves these routes. */
export type Behind = {
  openStream: OpenStream
  maintenance: MaintenanceWatch
  passwordGuard: PasswordGuard
  /** Whether a request comes from an administrator or the scraper. */
  maySeeDetails: (ctx: Context) => Promise<boolean>
}

/** The routes of this process's roles. */
export function routesOf(parts: Parts, behind: Behind): Route[] {
  const { openStream, maintenance, passwordGuard, maySeeDetails } = behind
  const { config, telemetry, version, signals } = parts
  const routes: Route[] = []
  const logReadiness = readinessLog(parts.logger)
  const [shown] = parts.catalogue.builtIn
  const server = basePathOf(parts.deps.baseUrl()) || '/'
  const document = once(() =>
    apiDocument(routes, { version, server, lock: shown ? lockOf(shown.recipe) : null }),
  )
  routes.push(
    ...generalRoutes({
      version,
      async readiness() {
        const readiness = await readinessOf(parts)
        logReadiness(readiness)
        return readiness
      },
      maySeeDetails,
      registry: telemetry.registry,
      securityContact: config.securityContact,
      now: parts.deps.now,
      openApi: document,
    }),
    docsRoute(document),
  )
  // Only one: its guard knows the scope of each connection.
  const reads = createReads<ReadTables>(parts.peoplesReads)
  if (config.roles.includes('command-api'))
    routes.push(
      ...commandRoutes(parts.deps, {
        consequencesOf: consequencesOf(reads),
        annotationReader: annotationReader(reads, parts.deps.artifacts),
        passwords: parts.passwords,
        passwordGuard,
        projections: parts.projectionAdmin,
        parkedRecords: openParkedRecords(parts),
        findTemplate: templatesIn(parts.catalogue),
        catalogue: parts.catalogue,
        recipeFiles: parts.recipeFiles,
        maintenanceSwitched: async () => {
          signals.publish('maintenance', {})
          await maintenance.refresh()
        },
      }),
    )
  if (config.roles.includes('query-api')) {
    const { pool, now, baseUrl, queue, volumes } = parts.deps
    const { catalogue } = parts
    const audit = auditReader(openAuditPool(parts))
    const providerName = oidcOf(config)?.name ?? null
    const { jwtHours: accessTokenHours, sessionIdleHours, hubEndpoint } = config
    const secondFactor = secondFactorPolicy(config)
    const signIn = { accessTokenHours, sessionIdleHours, baseUrl, providerName, secondFactor }
    const contents = { store: parts.deps.artifacts, key: parts.downloadKey, baseUrl }
    const seen = { catalogue, audit, signIn, contents, hubEndpoint, assets: parts.assets }
    const { captureDays } = config
    const more = { captureDays, volumes, ...seen }
    routes.push(...queryRoutes({ reads, pool, queue, now, openStream, ...more }))
  }
  return routes
}

/** Few connections with a short time limit, so that reading all events does not hold up commands. */
function openAuditPool({ life, addresses }: Parts): Pool {
  const options = { max: 3, applicationName: 'forge audit', statementTimeoutMs: 10_000 }
  return life.owns('pool audit', createPool(addresses.queries, options), pool => pool.end())
}
