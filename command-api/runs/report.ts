import { type Run, runAt } from '../../events/runs.ts'
import type { LifecycleReport } from '../../schemas/runs/runs.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import type { Asked } from '../commit/asked.ts'
import { type CommitDeps, commit } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { ReportingRun } from '../rules/admit-report.ts'
import { isEnded, reportLifecycle } from './decide.ts'

/** Applies a lifecycle report to a run without a job. */
export const reportRun =
  (deps: CommitDeps) => async (report: LifecycleReport, run: ReportingRun, asked: Asked) => {
    const { run_id, ts } = report
    const { before, events, state } = await commit(deps, asked, runAt(run_id), {
      decide: (current, now) => {
        const reported_at = toTimestamp(ts === undefined ? now : new Date(ts))
        return reportLifecycle(current, { ...report, reported_at })
      },
      alongside: async (tx, { events: [decided], now }) => {
        if (decided?.type === 'run.succeeded') await endRun(tx, run_id, 'succeeded', now)
        if (decided?.type === 'run.failed') await endRun(tx, run_id, 'failed', now)
        if (decided?.type === 'run.stopped') await endRun(tx, run_id, 'stopped', now)
      },
    })
    return {
      ok: true as const,
      run_id,
      event: report.event,
      state: state.state ?? 'pending',
      applied: events.length > 0 || (report.event === 'starting' && !isEnded(before)),
      duplicate: isDuplicate(before, report.event),
      billing_started_at:
        state.started_at === null ? null : toTimestamp(new Date(state.started_at)),
      control: { action: run.control, reason: null, deadline: null },
    }
  }

const isDuplicate = (before: Run, event: LifecycleReport['event']) =>
  before.state === event || (event === 'running' && before.started_at !== null)

/** Delay of the log's `eof`, so that reports in flight precede it. */
const lateLinesMs = 5000

/** Records the end: 15 minutes later the run's reports are refused, and soon after its log is closed. */
export async function endRun(
  tx: Transaction,
  runId: string,
  state: 'succeeded' | 'failed' | 'stopped' | 'abandoned',
  now: Date,
): Promise<void> {
  await tx.query(
    `update write.run_state
        set ended_at = $2, end_state = $3, eof_due_at = $4, silent_since = null
      where run_id = $1 and ended_at is null`,
    [runId, now, state, new Date(now.getTime() + lateLinesMs)],
  )
}
