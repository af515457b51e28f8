import type { Kysely, Selectable } from 'kysely'
import {
  hoursText,
  type Line,
  moneyText,
  sumOf,
  toSeconds,
} from '../../events/calculations/billing.ts'
import type { ArtifactTables } from '../../projector/artifacts/table.ts'
import type { ChangeTables } from '../../projector/changes/table.ts'
import type { JobTables } from '../../projector/jobs/table.ts'
import type { UsageTables } from '../../projector/usage/table.ts'
import { presentStatuses } from '../../schemas/artifacts/artifacts.ts'
import type { JobState } from '../../schemas/jobs/states.ts'
import { toExactTimestamp, toTimestamp, toTimestampOrNull } from '../../schemas/timestamp.ts'
import { readBill } from '../rules/ledger.ts'

type Db = Kysely<ArtifactTables & JobTables & ChangeTables & UsageTables>

/** The fields of the detail of a job in addition to its row. */
export async function readDetail(db: Db, job: Selectable<JobTables['jobs']>, now: Date) {
  const [attempts, transitions, lines, checkpoint] = await Promise.all([
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
      .where('edit', 'is', null)
      .orderBy('change')
      .execute(),
    readBill(db, job.run_id, now),
    readCheckpoint(db, job.run_id),
  ])
  const linesOf = Map.groupBy(lines, line => line.attempt)
  const { gates, warnings } = job.admission
  return {
    spec: job.spec,
    admission: { admitted_at: toTimestamp(job.submitted_at), gates, warnings },
    price_per_gpu_hour: job.price_per_gpu_hour,
    bill: toBill(lines),
    attempts: attempts.map(({ run_id: _, ...attempt }) => ({
      ...attempt,
      started_at: toTimestampOrNull(attempt.started_at),
      ended_at: toTimestampOrNull(attempt.ended_at),
      gpu_hours: hoursText(sumOf(linesOf.get(attempt.attempt) ?? []).gpu_ms),
    })),
    transitions: transitions.map(({ at, from_state, state, state_reason, ...told }, index) => ({
      at: toTimestamp(at),
      // Computed from exact times: displayed ones are rounded, so their differences would disagree with `duration_s`.
      spent_s: secondsUntil(at, transitions[index + 1]?.at),
      from: from_state as JobState | null,
      to: state as JobState,
      reason: state_reason,
      ...told,
    })),
    checkpoint,
    holds: job.hold === null ? [] : [{ ...job.hold, until: inWholeSeconds(job.hold.until) }],
    control: job.control,
  }
}

/** Events have the milliseconds, and the time zone in another notation. */
const inWholeSeconds = (at: string | null): string | null =>
  at === null ? null : toTimestamp(new Date(at))

/** The checkpoint from which the next attempt continues, as `command-api/jobs/checkpoint.ts` chooses it. */
async function readCheckpoint(db: Db, run_id: string) {
  const row = await db
    .selectFrom('artifacts')
    .select(['artifact_id', 'path', 'step', 'created_at'])
    .where('run_id', '=', run_id)
    .where('kind', '=', 'checkpoint')
    .where('status', 'in', presentStatuses)
    .orderBy('step', order => order.desc().nullsLast())
    .orderBy('artifact_id', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (!row) return null
  const { created_at, ...checkpoint } = row
  return { ...checkpoint, registered_at: toTimestamp(created_at) }
}

const secondsUntil = (from: Date, to: Date | undefined): number | null =>
  to === undefined ? null : Math.max(0, Math.round((to.getTime() - from.getTime()) / 1000))

/** More lines than a job has in three years. */
const maxLines = 1000

function toBill(lines: readonly Line[]) {
  const { gpu_ms, cost_micro } = sumOf(lines)
  return {
    gpu_seconds: toSeconds(gpu_ms),
    cost: moneyText(cost_micro),
    lines: lines.slice(-maxLines).map(({ attempt, price_per_gpu_hour, ...line }) => ({
      attempt,
      starts_at: toExactTimestamp(new Date(line.starts_at)),
      ends_at: toExactTimestamp(new Date(line.ends_at)),
      price_per_gpu_hour,
      gpu_seconds: toSeconds(line.gpu_ms),
      cost: moneyText(line.cost_micro),
    })),
  }
}
