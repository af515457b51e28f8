import type { Document } from '../platform/http/openapi.ts'
import type { RefusalCode } from '../platform/refusal.ts'
import type { Credential } from './caller.ts'
import type { Route } from './route.ts'

/** OpenAPI security schemes of the credentials. */
export const securitySchemes: Document = {
  accessToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  ingestToken: { type: 'http', scheme: 'bearer' },
  ingestHeader: { type: 'apiKey', in: 'header', name: 'X-Service-Token' },
  refreshCookie: { type: 'apiKey', in: 'cookie', name: 'forge_refresh' },
}

const security: Record<Credential, Document[]> = {
  none: [],
  person: [{ accessToken: [] }],
  admin: [{ accessToken: [] }],
  ingest: [{ ingestToken: [] }, { ingestHeader: [] }],
  session: [{ accessToken: [] }, { refreshCookie: [] }],
  refresh: [{ refreshCookie: [] }],
  metrics: [{ accessToken: [] }],
}

export const securityOf = ({ credential }: Route): Document[] => security[credential]

/** The refusals for callers without a route's credential, role or recent sign-in. */
export function refusalsOfStrangers({ credential, recentSignIn }: Route): RefusalCode[] {
  if (credential === 'none') return []
  if (credential === 'admin' || credential === 'metrics' || recentSignIn)
    return ['unauthenticated', 'forbidden']
  return ['unauthenticated']
}
