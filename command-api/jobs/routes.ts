import type { Route } from '../../auth/route.ts'
import type { Deps } from '../deps.ts'
import { actionRoutes } from './action-routes.ts'
import { admissionRoutes } from './admission-routes.ts'
import { againRoutes } from './again-routes.ts'
import { changeRoute } from './change-route.ts'
import type { JobPorts } from './ports.ts'
import { startRoute } from './start-route.ts'
import { openSubmits } from './submit.ts'

export const jobRoutes = (deps: Deps, ports: JobPorts): Route[] => {
  const submits = openSubmits(deps, ports)
  return [
    ...admissionRoutes(deps, submits),
    ...actionRoutes(deps),
    changeRoute(deps),
    ...againRoutes(deps, submits),
    startRoute(deps),
  ]
}
