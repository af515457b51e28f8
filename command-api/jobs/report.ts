import type { Pool } from 'pg'
import { type Job, jobAt } from '../../events/job-state.ts'
import type { JobEvent } from '../../events/jobs.ts'
import { remembered } from '../../platform/remembered.ts'
import { phases } from '../../schemas/jobs/jobs.ts'
import type { LifecycleReply, LifecycleReport } from '../../schemas/runs/runs.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import type { Asked } from '../commit/asked.ts'
import { type CommitDeps, commit, type Decided } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
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

/** How long it is cached that a job has begun, in milliseconds; without Postgres, the last known answer counts. */
const begun = { ttlMs: 1000, staleMs: 60_000 }

/** Reports `running` for a job whose code has only sent reports of another kind. */
export function beginJob(deps: CommitDeps & Pick<Deps, 'pool'>) {
  const unbegun = remembered(begun, (runIds: string[]) => findUnbegun(deps.pool, runIds))
  const tell = reportJob(deps)
  return async (run_id: string, asked: Asked): Promise<void> => {
    if (!(await unbegun(run_id))) return
    await tell({ run_id, event: 'running' }, null, asked)
    unbegun.forget((_, key) => key === run_id)
  }
}

async function findUnbegun(pool: Pool, runIds: string[]): Promise<Map<string, true>> {
  const { rows } = await pool.query<{ run_id: string }>({
    name: 'unbegun_jobs',
    text: `select run_id from write.job_state where run_id = any($1) and state in ('scheduled', 'starting')`,
    values: [runIds],
  })
  return new Map(rows.map(({ run_id }) => [run_id, true]))
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
