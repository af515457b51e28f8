import type { Slice } from '../slice.ts'
import type { Configured } from './confirm.ts'
import { type OpenSession, oidcRoutes, type TakeTeams } from './routes.ts'

export const oidc: Slice<{
  /** Null if people sign in with passwords. */
  provider: Configured | null
  openProviderSession: OpenSession
  takeTeams: TakeTeams
}> = {
  name: 'oidc',
  routes: (deps, { provider, openProviderSession: openSession, takeTeams }) =>
    oidcRoutes(deps, provider, { openSession, takeTeams }),
  kind: null,
  tables: ['auth.identity', 'auth.oidc_flow'],
}
