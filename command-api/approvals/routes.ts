import type { Route } from '../../auth/route.ts'
import type { Deps } from '../deps.ts'
import { decideRoute } from './decide-route.ts'
import type { ApprovalPorts } from './ports.ts'
import { quotaRequestRoute } from './quota-requests.ts'
import { ruleRoutes } from './rules.ts'

export const approvalRoutes = (deps: Deps, ports: ApprovalPorts): Route[] => [
  ...ruleRoutes(deps),
  decideRoute(deps, ports),
  quotaRequestRoute(deps, ports),
]
