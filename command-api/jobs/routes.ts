import { type Route, route } from '../../auth/route.ts'
import { type Job, jobAt } from '../../events/job-state.ts'
import type { JobEvent } from '../../events/jobs.ts'
import type { CatalogueEntry } from '../../recipes/catalogue.ts'
import {
  admissionResult,
  type JobAction,
  jobAction,
  jobActionReply,
  preflightResult,
} from '../../schemas/jobs.ts'
import { jobSpec, jobSpecLimitBytes } from '../../schemas/jobspec.ts'
import { runIdInPath } from '../../schemas/shared.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { commit } from '../commit.ts'
import type { Deps } from '../deps.ts'
import { runToActOn } from '../run-to-act-on.ts'
import { refuseProjectOfOthers } from '../short-id.ts'
import { askAll, passAll, passDialect } from './admission/gates.ts'
import { loadFacts } from './admission/load-facts.ts'
import { estimateOf, warningsOf } from './admission/warnings.ts'
import { pause, resume, stop } from './decide.ts'
import { placeOfNewcomer } from './queue-place.ts'
import { saveJob } from './rows.ts'
import { createJob } from './submit.ts'

export type JobPorts = {
  catalogue: readonly CatalogueEntry[]
  /** Wakes the executor after a commit. */
  wake: () => void
}

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
  action(deps, ports, 'stop', 'Stop a job', (job, body, now) =>
    stop(job, { ...askedOf(body, now), force: body.force ?? false }),
  ),
  action(
    deps,
    ports,
    'pause',
    'Have a job write a checkpoint and end, to be resumed later',
    (job, body, now) => pause(job, askedOf(body, now)),
  ),
  action(deps, ports, 'resume', 'Queue a paused job again, at its old place', (job, body) =>
    resume(job, body.reason ?? null),
  ),
]

const askedOf = ({ reason, grace_s }: JobAction, now: Date) => ({
  message: reason ?? null,
  graceSeconds: grace_s ?? null,
  now,
})

function action(
  deps: Deps,
  ports: JobPorts,
  verb: 'stop' | 'pause' | 'resume',
  summary: string,
  decide: (job: Job, body: JobAction, now: Date) => JobEvent[],
): Route {
  return route({
    method: 'POST',
    path: `/api/jobs/{run_id}/${verb}`,
    credential: 'person',
    reach: 'its_people',
    tag: 'jobs',
    summary,
    params: runIdInPath,
    body: jobAction,
    bodyMayBeAbsent: true,
    response: jobActionReply,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const { caller, params, body } = request
      const { run_id } = await runToActOn(deps.pool, {
        asked: params.run_id,
        caller,
        action: 'control',
        noun: 'job',
      })
      const { before, state } = await commit(deps, request, jobAt(run_id), {
        decide: (job, now) => decide(job, body, now),
        alongside: saveJob,
      })
      ports.wake()
      return {
        run_id,
        state: state.state,
        accepted: true,
        already: before.state === state.state,
        deadline: deadlineOf(state),
      }
    },
  })
}

function deadlineOf({ state, request }: Job): string | null {
  const isEnding = state === 'stopping' || state === 'pausing'
  return isEnding && request ? toTimestamp(new Date(request.deadline)) : null
}
