import { type Route, route } from '../../auth/route.ts'
import { admissionResult, preflightResult } from '../../schemas/jobs/jobs.ts'
import { jobSpec, jobSpecLimitBytes } from '../../schemas/jobs/jobspec.ts'
import type { Deps } from '../deps.ts'
import { estimateOf } from './admission/estimate.ts'
import { passDialect } from './admission/gates.ts'
import { warningsOf } from './admission/warnings.ts'
import { newcomerOf } from './new-job.ts'
import type { Submits } from './submit.ts'

export const admissionRoutes = (deps: Deps, submits: Submits): Route[] => [
  route({
    method: 'POST',
    path: '/api/jobs',
    credential: 'person',
    reach: 'taken',
    tag: 'jobs',
    summary: 'Submit a job; the first gate that it fails refuses it',
    body: jobSpec,
    beforeSchema: passDialect,
    bodyLimitBytes: jobSpecLimitBytes,
    response: admissionResult,
    refusals: ['invalid', 'forbidden', 'conflict', 'not_configured'],
    handle: request => submits.submit(request, request.body),
  }),
  route({
    method: 'POST',
    path: '/api/jobs/preflight',
    credential: 'person',
    reach: 'taken',
    tag: 'jobs',
    summary: 'Run a job through all gates without submitting it',
    body: jobSpec,
    bodyLimitBytes: jobSpecLimitBytes,
    response: preflightResult,
    refusals: ['forbidden'],
    async handle({ caller, body }) {
      const { facts, gates } = await submits.tryOut(body, caller)
      const ok = gates.every(gate => gate.ok)
      return {
        ok,
        gates,
        warnings: warningsOf(facts),
        estimate: estimateOf(facts),
        queue: ok ? ((await deps.queue.placesOf([newcomerOf(facts)]))[0]?.view ?? null) : null,
      }
    },
  }),
]
