import { type Job, jobs } from '../../events/job-state.ts'
import type { JobEvent } from '../../events/jobs.ts'
import { phases } from '../../schemas/jobs.ts'
import type { LifecycleReply, LifecycleReport } from '../../schemas/runs.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import type { Deps } from '../deps.ts'
import type { Stamp } from '../event-store.ts'
import { changeJob } from './change.ts'
import { type Report, report } from './decide.ts'
import { controlOf } from './rows.ts'

/** Applies a lifecycle report to a job's run (specification, "Job lifecycle"). */
export const reportJob =
  (deps: Pick<Deps, 'store'>, wake: () => void) =>
  async (said: LifecycleReport, _run: unknown, stamp: Stamp) => {
    let before = jobs.initial
    const { events, state, position } = await changeJob(
      deps.store,
      { run_id: said.run_id, stamp },
      job => {
        before = job
        return report(job, toReport(said, stamp.now))
      },
    )
    if (events.length > 0) wake()
    return { position, reply: toReply(said, { before, after: state, events }) }
  }

/** Ignores unknown phases, so that the report still counts. */
function toReport(said: LifecycleReport, now: Date): Report {
  return {
    event: said.event,
    attempt: said.attempt ?? null,
    phase: phases.find(phase => phase === said.phase) ?? null,
    exit_code: said.exit_code ?? null,
    message: said.message ?? null,
    at: now.toISOString(),
  }
}

type Applied = { before: Job; after: Job; events: readonly JobEvent[] }

function toReply(said: LifecycleReport, { before, after, events }: Applied): LifecycleReply {
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
