import type { Credential } from '../../auth/caller.ts'
import { refusalsOfStrangers, securityOf, securitySchemes } from '../../auth/openapi.ts'
import type { Route } from '../../auth/route.ts'
import { openApi } from '../../platform/http/openapi.ts'
import { isHubPath } from '../../schemas/hub-facade.ts'
import { isMlflowPath } from '../../schemas/mlflow.ts'
import type { RecipeLock } from '../../schemas/recipes.ts'
import { exampleOf } from './api-examples.ts'
import { hubFaultStatus } from './hub-refusals.ts'
import { mlflowFaultStatus } from './mlflow-refusals.ts'

/** The OpenAPI document of the routes that this process serves; `lock` is a recipe's lock, used in examples; `server` is what precedes all paths. */
export const apiDocument = (
  routes: readonly Route[],
  { version, server, lock }: { version: string; server: string; lock: RecipeLock | null },
): Record<string, unknown> =>
  openApi(routes, {
    info: { title: 'Forge', version, description: 'Control plane for machine-learning training.' },
    server,
    securitySchemes,
    securityOf,
    refusalsOfStrangers,
    describe,
    exampleOf: route => exampleOf(route, lock),
    // The admission gate that refused a job.
    refusalFields: { gate: { type: 'string' } },
    statusOfFaults: ({ path }) => {
      if (isMlflowPath(path)) return mlflowFaultStatus
      return isHubPath(path) ? hubFaultStatus : 422
    },
  })

const callers: Record<Credential, string> = {
  none: 'Anybody may call it.',
  person: 'It requires the access token of a person.',
  admin: 'It requires the access token of an administrator.',
  ingest: 'It requires the ingest token of the run, as bearer token or in `X-Service-Token`.',
  session: 'It requires an access token or the refresh cookie.',
  refresh: 'It requires the refresh cookie, and returns the next one.',
  metrics: 'It requires the token of the scraper or of an administrator.',
}

/** Notes for callers beyond the schemas, derived from the route's declaration. */
function describe({ summary, credential, rateLimit, bodyLimitBytes, ...route }: Route): string {
  const sentences = [`${summary}.`, callers[credential]]
  if (route.recentSignIn)
    sentences.push('The sign-in must be of the last 15 minutes (`POST /api/auth/confirm`).')
  if (rateLimit) {
    const { points, windowSeconds } = rateLimit
    sentences.push(`A client may call it ${points} times in ${windowSeconds} s.`)
  }
  if (bodyLimitBytes !== undefined)
    sentences.push(`The body has at most ${Math.floor(bodyLimitBytes / 1024)} KiB.`)
  if (route.bodyMayBeAbsent) sentences.push('The body is optional.')
  return sentences.join(' ')
}
