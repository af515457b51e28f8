import type { Route } from '../../auth/route.ts'
import type { WorkspaceDeps } from './deps.ts'
import { hparamKeysRoute } from './hparam-keys.ts'
import { importanceRoute } from './importance.ts'
import { metricKeysRoute } from './metric-keys.ts'
import { seriesRoute } from './series.ts'

export const workspaceRoutes = (deps: WorkspaceDeps): Route[] => [
  seriesRoute(deps),
  metricKeysRoute(deps),
  hparamKeysRoute(deps),
  importanceRoute(deps),
]
