import { type Route, route } from '../../auth/route.ts'
import {
  type LifecycleReply,
  type LifecycleReport,
  lifecycleInput,
  lifecycleReply,
} from '../../schemas/runs/runs.ts'
import type { Asked } from '../commit/asked.ts'
import type { Deps } from '../deps.ts'
import type { ReportingRun } from '../rules/admit-report.ts'

/** Applies a lifecycle report to a run; there is one for runs with a job and one for external runs. */
export type Reporter = (
  report: LifecycleReport,
  run: ReportingRun,
  asked: Asked,
) => Promise<LifecycleReply>

export type Reporters = Record<ReportingRun['source'], Reporter>

export const lifecycleRoutes = (deps: Deps, reporters: Reporters): Route[] => [
  route({
    method: 'POST',
    path: '/api/ingest/lifecycle',
    credential: 'ingest',
    tag: 'ingest',
    summary: 'Report where the training code stands',
    body: lifecycleInput,
    response: lifecycleReply,
    refusals: ['forbidden', 'conflict'],
    async handle(request) {
      const run = await deps.reports.admit(request)
      return reporters[run.source](request.body, run, request)
    },
  }),
]
