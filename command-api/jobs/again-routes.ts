import { type Route, route } from '../../auth/route.ts'
import { type Job, jobAt, jobs } from '../../events/job-state.ts'
import type { JobEvent } from '../../events/jobs.ts'
import { jobRetry, jobRetryReply } from '../../schemas/jobs/actions.ts'
import { type JobSpec, jobSpec } from '../../schemas/jobs/jobspec.ts'
import { runIdInPath } from '../../schemas/shared.ts'
import type { Deps } from '../deps.ts'
import type { Action } from '../rules/access.ts'
import { newestCheckpoint } from '../rules/newest-checkpoint.ts'
import { type ActOnRun, runToActOn } from '../rules/run-to-act-on.ts'
import { clone, retry } from './again.ts'
import { shown } from './checkpoint.ts'
import type { Submits } from './submit.ts'

/** Creates other jobs like this one. */
export const againRoutes = (deps: Deps, submits: Submits): Route[] => [
  route({
    method: 'POST',
    path: '/api/jobs/{run_id}/clone',
    credential: 'person',
    reach: 'its_people',
    tag: 'jobs',
    summary: 'The JobSpec of this job to edit and submit, with secrets masked',
    params: runIdInPath,
    response: jobSpec,
    refusals: ['not_found'],
    async handle({ caller, params }) {
      const { job, spec } = await jobAndSpec(deps, { asked: params.run_id, caller }, 'read')
      return clone(job, spec)
    },
  }),
  route({
    method: 'POST',
    path: '/api/jobs/{run_id}/retry',
    credential: 'person',
    reach: 'its_people',
    tag: 'jobs',
    summary: 'Submit an ended job again, so that it continues from its newest checkpoint',
    params: runIdInPath,
    body: jobRetry,
    bodyMayBeAbsent: true,
    response: jobRetryReply,
    refusals: ['invalid', 'forbidden', 'not_found', 'conflict', 'not_configured'],
    async handle(request) {
      const { caller, params, body } = request
      const asked = { asked: params.run_id, caller }
      const { job, spec: submitted } = await jobAndSpec(deps, asked, 'control')
      const { run_id } = job.subject
      const newest = await newestCheckpoint(deps.pool, run_id)
      const spec = retry(job, { spec: submitted, checkpoint: newest, env: body.env ?? {} })
      const admitted = await submits.submit(request, spec, { retryOf: run_id })
      const checkpoint = newest?.artifact_id === spec.spec.init_from?.artifact_id ? newest : null
      return { ...admitted, retry_of: run_id, checkpoint: checkpoint && shown(checkpoint) }
    },
  }),
]

type Asking = Pick<ActOnRun, 'asked' | 'caller'>

/** A job on which the caller may do this, and its spec in the form that events carry. */
async function jobAndSpec(
  { pool, store }: Pick<Deps, 'pool' | 'store'>,
  asking: Asking,
  action: Action,
): Promise<{ job: Job; spec: JobSpec }> {
  const { run_id } = await runToActOn(pool, { ...asking, action, noun: 'job' })
  const { events } = await store.load<JobEvent>(jobAt(run_id).stream)
  const admitted = events.find(event => event.type === 'job.admitted')
  if (!admitted) throw new Error(`${run_id} was never admitted`)
  return { job: events.reduce(jobs.evolve, jobs.initial), spec: admitted.data.spec }
}
