import type { Pool, PoolClient } from 'pg'
import { rowLock } from '../../platform/postgres/locks.ts'
import { isOutage } from '../../platform/postgres/pool.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { tryLockInTransaction } from '../../platform/postgres/with-lock.ts'
import { repeat } from '../../platform/repeat.ts'
import type { Clock } from '../../platform/time.ts'
import { planChunks, pointsByKey, writeChunks } from './chunks.ts'
import { correctSummaries, moveToSettled } from './settled-runs.ts'

/** A run is compacted once this many points are waiting: readers have to merge them, and small rows are expensive. */
const duePoints = 64 * 1024
const dueBlocks = 1024
/** A run with inexact summaries is compacted again after this, in milliseconds. */
const inexactMs = 10_000
/** A run without reports for this long is moved to the settled runs, in milliseconds. */
const silentMs = 60_000
/** Maximum points of one transaction, except for a single larger block. */
const maxPoints = 512 * 1024
/** Maximum runs of one pass; the next pass selects again. */
const maxRuns = 100

/** Pause after a pass that found nothing, in milliseconds. */
export const restMs = 1000

type Say = (fields: object, message: string) => void
export type CompactorDeps = { pool: Pool; logger: { warn: Say; error: Say }; now: Clock }

/**
 * Compacts due runs in passes until stopped, and calls `passed` after each with the number of runs that it compacted. Any
 * number of processes may run it.
 */
export function startCompactor(
  deps: CompactorDeps,
  passed: (compacted: number) => void = () => {},
): { stop(): Promise<void> } {
  const pass = async (signal: AbortSignal) => {
    const compacted = await compactDue(deps, signal)
    passed(compacted)
    return compacted === 0 ? restMs : 0
  }
  return repeat(pass, {
    failed: error =>
      deps.logger.warn({ err: error, outage: isOutage(error) }, 'compacting metrics failed'),
  })
}

/** Runs `live` whose points or summaries have waited long enough; inexact ones alone do not count. */
const isDue = '(waiting_points >= $1 or waiting_blocks >= $2 or last_received_ms < $3)'
const dueFrom = (nowMs: number) => [duePoints, dueBlocks, nowMs - silentMs]

/** How many runs are due to be compacted or settled. */
export async function countDue(pool: Pool, now: Date): Promise<number> {
  const { rows } = await pool.query<{ due: number }>({
    name: 'count_due_metric_runs',
    text: `select count(*) as due from metric_run where live and ${isDue}`,
    values: dueFrom(now.getTime()),
  })
  return rows[0]?.due ?? 0
}

/** Runs that are due, or whose summaries have been inexact for long enough; those with the most points first. */
async function dueRuns(pool: Pool, nowMs: number, limit: number): Promise<{ run_no: number }[]> {
  const { rows } = await pool.query<{ run_no: number }>({
    name: 'due_metric_runs',
    text: `select run_no from metric_run
            where live and (${isDue} or (inexact and compacted_ms < $4))
            order by waiting_points desc, run_no limit $5`,
    values: [...dueFrom(nowMs), nowMs - inexactMs, limit],
  })
  return rows
}

/** Whether there is work for a compactor. */
export async function isAnyDue(pool: Pool, now: Date): Promise<boolean> {
  return (await dueRuns(pool, now.getTime(), 1)).length > 0
}

/** Compacts every run that is due; returns their number. A failing run does not affect the others. */
export async function compactDue(deps: CompactorDeps, signal: AbortSignal): Promise<number> {
  const nowMs = deps.now().getTime()
  const rows = await dueRuns(deps.pool, nowMs, maxRuns)
  let compacted = 0
  for (const { run_no } of rows) {
    if (signal.aborted) break
    try {
      if (await compactRun(deps.pool, run_no, nowMs)) compacted++
    } catch (error) {
      if (isOutage(error)) throw error
      deps.logger.error({ err: error, runNo: run_no }, 'a run could not be compacted')
    }
  }
  return compacted
}

/**
 * Moves the waiting points of a run into its chunks, and settles a silent run. Returns false if another process is
 * compacting it. One transaction, so that readers see each point exactly once.
 *
 * The projector may append to the run in the meantime. The slow part, merging the points that waited at the start,
 * comes before the first write, so that the relay does not wait for it; only the end, which touches the same rows as a
 * flush, holds the row lock.
 */
export async function compactRun(pool: Pool, runNo: number, nowMs: number): Promise<boolean> {
  return inTransaction(pool, async tx => {
    // A rebuild must not put another generation under these table names before this ends.
    await tx.query('lock table generation in row share mode')
    // Excludes other compactors.
    const isHeld = await tryLockInTransaction(tx, rowLock('metric_run', runNo))
    return isHeld && (await compactHeld(tx, runNo, nowMs))
  })
}

async function compactHeld(tx: PoolClient, runNo: number, nowMs: number): Promise<boolean> {
  const { rows: blocks } = await tx.query<{ first_record: number; points: number; d: Buffer }>({
    name: 'metric_blocks_to_compact',
    text: `select first_record, points, d
             from (select first_record, points, d, sum(points) over (order by first_record) - points as before
                     from metric_block where run_no = $1) b
            where before < $2 order by first_record`,
    values: [runNo, maxPoints],
  })
  const newest = blocks.at(-1)
  if (newest) {
    const changes = await planChunks(tx, runNo, pointsByKey(blocks.map(block => block.d)))
    await writeChunks(tx, changes)
    await tx.query({
      name: 'delete_metric_blocks',
      text: 'delete from metric_block where run_no = $1 and first_record <= $2',
      values: [runNo, newest.first_record],
    })
  }
  const points = blocks.reduce((sum, block) => sum + block.points, 0)
  const run = await takeOff(tx, runNo, { points, blocks: blocks.length, nowMs })
  if (run.inexact && run.waiting_points < maxPoints) await correctSummaries(tx, runNo)
  const isSilent = run.waiting_blocks === 0 && run.last_received_ms < nowMs - silentMs
  if (run.live && isSilent) await moveToSettled(tx, runNo)
  return true
}

type RunRow = {
  waiting_points: number
  waiting_blocks: number
  last_received_ms: number
  live: boolean
  inexact: boolean
}

/** Locks the run's row: from here on the projector has to wait. */
async function takeOff(
  tx: PoolClient,
  runNo: number,
  { points, blocks, nowMs }: { points: number; blocks: number; nowMs: number },
): Promise<RunRow> {
  const { rows } = await tx.query<RunRow>({
    name: 'take_off_compacted',
    text: `update metric_run set waiting_points = waiting_points - $2, waiting_blocks = waiting_blocks - $3,
                                 compacted_ms = $4
            where run_no = $1
           returning waiting_points, waiting_blocks, last_received_ms, live, inexact`,
    values: [runNo, points, blocks, nowMs],
  })
  const [run] = rows
  if (!run) throw new Error(`run ${runNo} is not there to be compacted`)
  return run
}
