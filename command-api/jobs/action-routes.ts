import { type Route, route } from '../../auth/route.ts'
import { type Job, jobAt } from '../../events/job-state.ts'
import type { JobEvent } from '../../events/jobs.ts'
import { type JobAction, jobAction, jobActionReply } from '../../schemas/jobs/actions.ts'
import { runIdInPath } from '../../schemas/shared.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { type KnownCheckpoint, newestCheckpoint } from '../rules/newest-checkpoint.ts'
import { runToActOn } from '../rules/run-to-act-on.ts'
import { shown } from './checkpoint.ts'
import { pause, resume, stop } from './decide.ts'
import { saveJob } from './rows.ts'

/** Requests of people about a job; each takes effect a moment later, once the executor has acted on it. */
export const actionRoutes = (deps: Deps): Route[] => {
  const action = (verb: string, summary: string, decide: Decide) =>
    actionRoute(deps, { verb, summary, decide })
  return [
    action('stop', 'Stop a job', (job, body, now) => stop(job, askedOf(body, now))),
    action(
      'pause',
      'Ask a job to write a checkpoint and end, so that it can be resumed later',
      (job, body, now) => pause(job, askedOf(body, now)),
    ),
    action('resume', 'Queue a paused job again, in its old place', (job, body) =>
      resume(job, body.reason ?? null),
    ),
  ]
}

const askedOf = ({ reason, grace_s, force }: JobAction, now: Date) => ({
  message: reason ?? null,
  graceSeconds: grace_s ?? null,
  force: force ?? false,
  now,
})

type Decide = (job: Job, body: JobAction, now: Date) => JobEvent[]
type Action = { verb: string; summary: string; decide: Decide }

function actionRoute(deps: Deps, { verb, summary, decide }: Action): Route {
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
    servedOnFullDisk: verb !== 'resume',
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
      const checkpoint = await newestCheckpoint(deps.pool, run_id)
      return {
        run_id,
        state: state.state,
        accepted: true,
        already: before.state === state.state,
        deadline: deadlineOf(state),
        checkpoint: checkpoint && shown(checkpoint),
        warnings: warningsOf(state, checkpoint),
      }
    },
  })
}

function deadlineOf({ state, request }: Job): string | null {
  const isEnding = state === 'stopping' || state === 'pausing'
  return isEnding && request ? toTimestamp(new Date(request.deadline)) : null
}

/** A pause preserves the newest checkpoint and nothing else. */
function warningsOf({ state, started_at }: Job, checkpoint: KnownCheckpoint | null) {
  const isPause = state === 'pausing' || state === 'paused'
  const hasNew = checkpoint !== null && checkpoint.registered_at >= new Date(started_at ?? 0)
  if (!isPause || started_at === null || hasNew) return []
  const otherwise =
    checkpoint === null
      ? 'a resume starts from the beginning'
      : `a resume continues from ${checkpoint.artifact_id}, which an earlier attempt wrote`
  const detail =
    state === 'pausing'
      ? `this attempt has registered no checkpoint yet; unless it does before it ends, ${otherwise}`
      : `the attempt registered no checkpoint: ${otherwise}`
  return [{ code: 'no_checkpoint', detail }]
}
