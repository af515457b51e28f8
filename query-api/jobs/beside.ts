import { type Kysely, sql } from 'kysely'
import type { QueueBook } from '../../events/calculations/queue-picture.ts'
import type { ArtifactTables } from '../../projector/artifacts/table.ts'
import type { JobTables } from '../../projector/jobs/table.ts'
import type { LogTables } from '../../projector/logs/table.ts'
import type { MetricTables } from '../../projector/metrics/table.ts'
import type { UsageTables } from '../../projector/usage/table.ts'
import { presentStatuses } from '../../schemas/artifacts/artifacts.ts'
import type { QueueView } from '../../schemas/jobs/jobs.ts'
import { readBills } from '../rules/ledger.ts'
import type { Beside, StoredRow } from './row.ts'

type Db = Kysely<ArtifactTables & JobTables & LogTables & MetricTables & UsageTables>

/** Loads the data that other read models hold about these jobs. */
export async function readBeside(
  db: Db,
  jobs: readonly StoredRow[],
  queue: QueueBook,
  now: Date,
): Promise<(job: StoredRow) => Beside> {
  const runIds = jobs.map(job => job.run_id)
  const queued = jobs.filter(({ state }) => state === 'queued').map(({ run_id }) => run_id)
  const pauses = jobs.filter(({ state }) => state === 'pausing' || state === 'paused')
  const [steps, truncated, places, owedBy, checkpoints] = await Promise.all([
    readSteps(db, runIds),
    readTruncated(db, runIds),
    queued.length > 0 ? readPlaces(queue, queued) : new Map(),
    readBills(db, runIds, now),
    pauses.length > 0 ? readCheckpoints(db, pauses) : new Map(),
  ])
  return ({ run_id, state, state_reason }) => {
    const place = state === 'queued' ? places.get(run_id) : undefined
    return {
      queue: place ? { ...place, reason: state_reason } : null,
      step: steps.get(run_id) ?? null,
      logTruncated: truncated.has(run_id),
      checkpoint_at: checkpoints.get(run_id) ?? null,
      owed: owedBy(run_id),
    }
  }
}

/** Maximum number of a run's metrics examined for its progress. */
const stepsOf = 2000

async function readSteps(db: Db, runIds: string[]): Promise<Map<string, number>> {
  const { rows } = await sql<{ run_id: string; step: number }>`
    select m.run_id, s.step
      from metric_run m,
   lateral (select max(last_step) as step
              from (select last_step from metric_summary where run_no = m.run_no limit ${stepsOf}) k) s
     where m.run_id = any(${runIds}) and s.step is not null`.execute(db)
  return new Map(rows.map(row => [row.run_id, row.step]))
}

async function readTruncated(db: Db, runIds: string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('log_runs')
    .select('run_id')
    .where('truncated', '=', true)
    .where(sql<boolean>`run_id = any(${runIds})`)
    .execute()
  return new Set(rows.map(row => row.run_id))
}

/** When the newest checkpoint of each of these jobs was registered. */
async function readCheckpoints(db: Db, jobs: readonly StoredRow[]): Promise<Map<string, Date>> {
  const rows = await db
    .selectFrom('artifacts')
    .select(['run_id', eb => eb.fn.max('created_at').as('newest')])
    .where('kind', '=', 'checkpoint')
    .where('status', 'in', presentStatuses)
    .where(sql<boolean>`run_id = any(${jobs.map(job => job.run_id)})`)
    .groupBy('run_id')
    .execute()
  return new Map(rows.map(row => [row.run_id, row.newest]))
}

async function readPlaces(
  queue: QueueBook,
  runIds: readonly string[],
): Promise<Map<string, QueueView>> {
  const { waiting } = await queue.picture(runIds)
  const shown = new Set(runIds)
  return new Map(
    waiting.flatMap(({ job, ...place }) =>
      shown.has(job.run_id) ? [[job.run_id, { ...place, reason: job.reason }] as const] : [],
    ),
  )
}
