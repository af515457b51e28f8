import { type Job, jobAt } from '../../events/job-state.ts'
import type { JobEvent } from '../../events/jobs.ts'
import { phases } from '../../schemas/jobs/jobs.ts'
import type { LifecycleReply, LifecycleReport } from '../../schemas/runs/runs.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import type { Asked } from '../commit/asked.ts'
import { type CommitDeps, commit, type Decided } from '../commit/commit.ts'
import { type AttemptReport, report } from './decide.ts'
import { controlOf, saveJob } from './rows.ts'

/** Applies a lifecycle report to a job's run (specification, "Job lifecycle"). */
export const reportJob =
  (deps: CommitDeps) => async (said: LifecycleReport, _run: unknown, asked: Asked) => {
    const decided = await commit(deps, asked, jobAt(said.run_id), {
      decide: (job, now) => report(job, toReport(said, now)),
      alongside: saveJob,
    })
    return toReply(said, decided)
  }

/** Ignores unknown phases, so that the report still counts. */
function toReport(said: LifecycleReport, now: Date): AttemptReport {
  return {
    event: said.event,
    attempt: said.attempt ?? null,
    phase: phases.find(phase => phase === said.phase) ?? null,
    exit_code: said.exit_code ?? null,
    message: said.message ?? null,
    at: now.toISOString(),
  }
}

function toReply(
  said: LifecycleReport,
  { before, state: after, events }: Decided<Job, JobEvent>,
): LifecycleReply {
  return {
    ok: true,
    run_id: said.run_id,
    event: said.event,
    state: after.state ?? 'queued',
    applied: events.length > 0,
    duplicate: events.length === 0 && isKnown(before, said.event),
    billing_started_at: after.started_at === null ? null : toTimestamp(new Date(after.started_at)),
    control: toControl(after),
  }
}

function isKnown({ state, started_at }: Job, event: LifecycleReport['event']): boolean {
  if (event === 'running') return started_at !== null
  return state === event
}

function toControl(job: Job): LifecycleReply['control'] {
  const action = controlOf(job)
  const { request } = job
  if (action === 'none' || !request) return { action, reason: null, deadline: null }
  return {
    action,
    reason: request.message ?? request.reason,
    deadline: toTimestamp(new Date(request.deadline)),
  }
}
