import type { HparamTables } from '../../projector/hparams/table.ts'
import type { MetricTables } from '../../projector/metrics/table.ts'
import type { Reads } from '../reading/reads.ts'
import type { AccessTables } from '../rules/access.ts'
import type { SliceDeps } from '../slice.ts'

export type Tables = AccessTables & HparamTables & MetricTables

export type WorkspaceDeps = { reads: Reads<Tables> } & Pick<
  SliceDeps<Tables>,
  'countReports' | 'readCurves' | 'runsOfProject'
>
