import type { Route } from '../../auth/route.ts'
import type { HparamTables } from '../../projector/hparams/table.ts'
import type { MetricTables } from '../../projector/metrics/table.ts'
import type { Reads } from '../reading/reads.ts'
import type { AccessTables } from '../rules/access.ts'
import type { SliceDeps } from '../slice.ts'
import { importanceRoute } from './importance.ts'
import { metricKeysRoute } from './metric-keys.ts'
import { seriesRoute } from './series.ts'

export type Tables = AccessTables & HparamTables & MetricTables

export type WorkspaceDeps = { reads: Reads<Tables> } & Pick<
  SliceDeps<Tables>,
  'countReports' | 'readCurves' | 'runsOfProject'
>

export const workspaceRoutes = (deps: WorkspaceDeps): Route[] => [
  seriesRoute(deps),
  metricKeysRoute(deps),
  importanceRoute(deps),
]
