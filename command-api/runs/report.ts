import { type Run, runAt, runs } from '../../events/runs.ts'
import type { LifecycleReport } from '../../schemas/runs.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import type { ReportingRun } from '../admit-report.ts'
import type { Deps } from '../deps.ts'
import type { Stamp, Transaction } from '../event-store.ts'
import { handle } from '../handle.ts'
import { isEnded, reportLifecycle } from './decide.ts'

/** Applies a lifecycle report to a run without a job. */
export const reportRun =
  (deps: Pick<Deps, 'store'>) =>
  async (report: LifecycleReport, run: ReportingRun, stamp: Stamp) => {
    const reported_at = toTimestamp(report.ts === undefined ? stamp.now : new Date(report.ts))
    let before = runs.initial
    const { events, state, position } = await handle(
      deps.store,
      {
        ...runAt(report.run_id),
        stamp,
        reserve: async (tx, [decided]) => {
          if (decided?.type === 'run.succeeded')
            await endRun(tx, report.run_id, 'succeeded', stamp.now)
          if (decided?.type === 'run.failed') await endRun(tx, report.run_id, 'failed', stamp.now)
        },
      },
      current => {
        before = current
        return reportLifecycle(current, { ...report, reported_at })
      },
    )
    return {
      position,
      reply: {
        ok: true as const,
        run_id: report.run_id,
        event: report.event,
        state: state.state ?? 'pending',
        applied: events.length > 0 || (report.event === 'starting' && !isEnded(before)),
        duplicate: isDuplicate(before, report.event),
        billing_started_at:
          state.started_at === null ? null : toTimestamp(new Date(state.started_at)),
        control: { action: run.control, reason: null, deadline: null },
      },
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
  state: 'succeeded' | 'failed' | 'abandoned',
  now: Date,
): Promise<void> {
  await tx.query(
    `update write.run_state set ended_at = $2, end_state = $3, eof_due_at = $4
      where run_id = $1 and ended_at is null`,
    [runId, now, state, new Date(now.getTime() + lateLinesMs)],
  )
}
