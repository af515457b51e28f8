import type { Kysely, Selectable } from 'kysely'
import type { ChangeTables } from '../../projector/changes/table.ts'
import type { JobTables } from '../../projector/jobs/table.ts'
import type { JobState } from '../../schemas/jobs.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'

type Db = Kysely<JobTables & ChangeTables>

/** The fields of the detail of a job in addition to its row. */
export async function readDetail(db: Db, job: Selectable<JobTables['jobs']>) {
  const [attempts, transitions] = await Promise.all([
    db
      .selectFrom('job_attempts')
      .selectAll()
      .where('run_id', '=', job.run_id)
      .orderBy('attempt')
      .execute(),
    db
      .selectFrom('state_changes')
      .select(['at', 'from_state', 'state', 'state_reason', 'actor', 'event_id'])
      .where('run_id', '=', job.run_id)
      .orderBy('change')
      .execute(),
  ])
  const { gates, warnings } = job.admission
  return {
    spec: job.spec,
    admission: { admitted_at: toTimestamp(job.submitted_at), gates, warnings },
    attempts: attempts.map(({ run_id: _, gpu_seconds, ...attempt }) => ({
      ...attempt,
      started_at: attempt.started_at === null ? null : toTimestamp(attempt.started_at),
      ended_at: attempt.ended_at === null ? null : toTimestamp(attempt.ended_at),
      resume_from: null,
      gpu_hours: (gpu_seconds / 3600).toFixed(2),
    })),
    transitions: transitions.map(({ at, from_state, state, state_reason, ...told }, index) => ({
      at: toTimestamp(at),
      // Of the exact times: differences of shown ones are off by up to a second, and disagree with `duration_s`.
      spent_s: secondsUntil(at, transitions[index + 1]?.at),
      from: from_state as JobState | null,
      to: state as JobState,
      reason: state_reason,
      ...told,
    })),
    holds: job.hold === null ? [] : [job.hold],
    control: job.control,
  }
}

const secondsUntil = (from: Date, to: Date | undefined): number | null =>
  to === undefined ? null : Math.max(0, Math.round((to.getTime() - from.getTime()) / 1000))
