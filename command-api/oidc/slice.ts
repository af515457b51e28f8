import type { Slice } from '../slice.ts'
import type { Configured } from './confirm.ts'
import { type OpenSession, oidcRoutes } from './routes.ts'

export const oidc: Slice<{
  /** Null if people sign in with passwords. */
  provider: Configured | null
  openProviderSession: OpenSession
}> = {
  name: 'oidc',
  routes: (deps, { provider, openProviderSession }) =>
    oidcRoutes(deps, provider, openProviderSession),
  kind: null,
  tables: ['auth.identity', 'auth.oidc_flow'],
}
