import { refusalsOfStrangers, securityOf, securitySchemes } from '../auth/openapi.ts'
import type { Route } from '../auth/route.ts'
import { openApi } from '../platform/http/openapi.ts'

/** The OpenAPI document of the routes that this process serves. */
export const apiDocument = (routes: readonly Route[], version: string): Record<string, unknown> =>
  openApi(routes, {
    info: { title: 'Forge', version, description: 'Control plane for machine-learning training.' },
    securitySchemes,
    securityOf,
    refusalsOfStrangers,
    // The admission gate that refused a job.
    refusalFields: { gate: { type: 'string' } },
  })
