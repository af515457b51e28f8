import type { Slice } from '../slice.ts'
import type { HubPorts } from './ports.ts'
import { hubRoutes } from './routes.ts'

export const hubFacade: Slice<{ ofHub: HubPorts }> = {
  name: 'hub-facade',
  routes: (deps, { ofHub }) => hubRoutes(deps, ofHub),
  kind: null,
  examples: {},
}
