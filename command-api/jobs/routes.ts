import { type Route, route } from '../../auth/route.ts'
import { admissionResult, preflightResult } from '../../schemas/jobs.ts'
import { jobSpec, jobSpecLimitBytes } from '../../schemas/jobspec.ts'
import type { Deps } from '../deps.ts'
import { refuseProjectOfOthers } from '../short-id.ts'
import { actionRoutes } from './action-routes.ts'
import { askAll, passAll, passDialect } from './admission/gates.ts'
import { loadFacts } from './admission/load-facts.ts'
import { estimateOf, warningsOf } from './admission/warnings.ts'
import { againRoutes } from './again-routes.ts'
import { changeRoute } from './change-route.ts'
import type { JobPorts } from './ports.ts'
import { placeOfNewcomer } from './queue-place.ts'
import { createJob } from './submit.ts'

export const jobRoutes = (deps: Deps, ports: JobPorts): Route[] => [
  route({
    method: 'POST',
    path: '/api/jobs',
    credential: 'person',
    reach: 'taken',
    tag: 'jobs',
    summary: 'Submit a job; refused by the first gate that does not let it pass',
    body: jobSpec,
    beforeSchema: passDialect,
    bodyLimitBytes: jobSpecLimitBytes,
    response: admissionResult,
    refusals: ['invalid', 'forbidden', 'conflict', 'not_configured'],
    async handle(request) {
      const { caller, body } = request
      const facts = await loadFacts(body, { ...deps, ...ports, caller })
      const gates = passAll(facts)
      const answer = await createJob(deps, request, { facts, gates })
      ports.wake()
      return answer
    },
  }),
  route({
    method: 'POST',
    path: '/api/jobs/preflight',
    credential: 'person',
    reach: 'taken',
    tag: 'jobs',
    summary: 'Ask all gates about a job without submitting it',
    body: jobSpec,
    bodyLimitBytes: jobSpecLimitBytes,
    response: preflightResult,
    refusals: ['forbidden'],
    async handle({ caller, body }) {
      await refuseProjectOfOthers(deps.pool, body.metadata.project, caller)
      const facts = await loadFacts(body, { ...deps, ...ports, caller })
      const gates = askAll(facts)
      const ok = gates.every(gate => gate.ok)
      const newcomer = { owner: caller.username, priority: body.spec.scheduling.priority }
      return {
        ok,
        gates,
        warnings: warningsOf(facts),
        estimate: estimateOf(facts),
        queue: ok ? await placeOfNewcomer(deps.pool, newcomer) : null,
      }
    },
  }),
  ...actionRoutes(deps, ports),
  changeRoute(deps, ports),
  ...againRoutes(deps, ports),
]
