import type { UnstampedFact } from '../../events/fact.ts'
import { encodeLogsEof } from '../../events/logs.ts'
import { runAt } from '../../events/runs.ts'
import { forEachApart } from '../../platform/each.ts'
import { createPresence, type Presence } from '../../platform/presence.ts'
import { repeat } from '../../platform/repeat.ts'
import { encodeBlock } from '../../platform/series/block.ts'
import { createPoints } from '../../platform/series/points.ts'
import { type CommitDeps, commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { abandonRun, noteSilence } from './decide.ts'
import { endRun } from './report.ts'

export type RunTimers = { stop(): Promise<void> }

/** Interval between passes, in milliseconds. */
const intervalMs = 1000
/** Maximum silence of a run without a job, in milliseconds. */
const silenceMs = 24 * 3_600_000
/** How long reports must have been possible before silence counts: while the server is away, code keeps retrying. */
const heardMs = 3_600_000
/** How precisely the last report of a run is recorded, which saves a row version per second and run. */
const precisionS = 30
/** A run is shown as silent two minutes after its last report. */
const silentS = 120 + precisionS
/**
 * A run that has been silent and heard again this often reports rarely by nature: each further silence is noted after twice the
 * time, 80 minutes at most, so that its events do not add up.
 */
const patience = { silences: 5, doublings: 5 }
const batch = 100

const actor = { type: 'system', id: 'run-keeper', via: 'timer' } as const

/**
 * Time-based transitions of runs: closes the logs of ended runs with the platform's `eof` (specification, "Job lifecycle", rule
 * 2), notes which external runs have fallen silent or report again, and abandons runs after a day of silence, if the server
 * could have heard them during its last hour. Every step is idempotent and may run in any process: only the first `eof` counts.
 */
export function startRunTimers(deps: RunTimerDeps): RunTimers {
  const presence = createPresence(heardMs)
  const hearing = createPresence(silentS * 1000)
  const failed = (error: unknown) => {
    presence.interrupt()
    hearing.interrupt()
    deps.logger.warn({ err: error }, 'a pass over the runs failed, will retry')
  }
  return repeat(
    async () => {
      await runDueTimers(deps, { presence, hearing, failed })
      return intervalMs
    },
    { failed },
  )
}

export type RunTimerDeps = CommitDeps &
  Pick<Deps, 'pool' | 'logger' | 'reports' | 'appendFact' | 'topics'>

/** Silence for a day counts by `presence`, silence for minutes by `hearing`. */
type Pass = { presence: Presence; hearing: Presence; failed: (error: unknown) => void }

/** One pass. Steps that need the log come last, because its absence ends the pass. */
export function runDueTimers(
  deps: RunTimerDeps,
  { presence, hearing, failed }: Pass,
): Promise<unknown> {
  for (const one of [presence, hearing]) one.noted(deps.now())
  const steps = [
    noteReporters,
    ...(hearing.mayJudge() ? [noteSilent] : []),
    ...(presence.mayJudge() ? [abandonSilent] : []),
    closeLogs,
  ]
  return forEachApart(steps, step => step(deps), failed)
}

async function noteReporters(deps: RunTimerDeps): Promise<void> {
  const reporters = deps.reports.takeReporters()
  if (reporters.length === 0) return
  const { rows } = await deps.pool.query<{ run_id: string; was_silent: boolean }>(
    `update write.run_state set last_report_at = $2
      where run_id = any($1)
        and (last_report_at < $2::timestamptz - make_interval(secs => $3) or silent_since is not null)
      returning run_id, silent_since is not null as was_silent`,
    [reporters, deps.now(), precisionS],
  )
  const heard = rows.filter(({ was_silent }) => was_silent)
  await forEachApart(heard, ({ run_id }) => setSilence(deps, run_id, null), failedRun(deps))
}

async function noteSilent(deps: RunTimerDeps): Promise<void> {
  const { rows } = await deps.pool.query<{ run_id: string; since: Date }>(
    `select run_id, last_report_at as since from write.run_state
      where source = 'external' and ended_at is null and silent_since is null
        and last_report_at < $1::timestamptz - make_interval(secs => $2)
        and last_report_at < $1::timestamptz
              - make_interval(secs => $2 * 2 ^ least($4, greatest(0, silences + 1 - $3)))
      order by last_report_at limit $5`,
    [deps.now(), silentS, patience.silences, patience.doublings, batch],
  )
  await forEachApart(rows, ({ run_id, since }) => setSilence(deps, run_id, since), failedRun(deps))
}

const setSilence = (deps: RunTimerDeps, run_id: string, since: Date | null) =>
  commit(deps, { actor, requestId: 'run-keeper' }, runAt(run_id), {
    decide: run => noteSilence(run, run_id, since),
    alongside: tx =>
      tx.query(
        `update write.run_state set silent_since = $2, silences = silences + $3
          where run_id = $1`,
        [run_id, since, since === null ? 0 : 1],
      ),
  })

async function closeLogs(deps: RunTimerDeps): Promise<void> {
  const { rows } = await deps.pool.query<{ run_id: string; end_state: string }>(
    `select run_id, end_state from write.run_state
      where eof_sent_at is null and eof_due_at <= $1 order by eof_due_at limit $2`,
    [deps.now(), batch],
  )
  const close = async ({ run_id, end_state }: { run_id: string; end_state: string }) => {
    const points = await endOfPoints(deps, run_id)
    const body = encodeLogsEof({ state: end_state, points })
    await append(deps, deps.topics.logs, { type: 'logs.eof', run_id, attempt: null, body })
    await deps.pool.query('update write.run_state set eof_sent_at = $2 where run_id = $1', [
      run_id,
      deps.now(),
    ])
  }
  await forEachApart(rows, close, failedRun(deps))
}

const failedRun =
  ({ logger }: Pick<Deps, 'logger'>) =>
  (error: unknown, { run_id }: { run_id: string }) =>
    logger.error({ err: error, run_id }, 'this run could not be processed')

/** Appends a report without points behind all points of the run; returns its position. */
async function endOfPoints(deps: RunTimerDeps, run_id: string) {
  const body = encodeBlock([], createPoints(0)).bytes
  const fact = { type: 'metrics.appended', run_id, attempt: null, body } as const
  const { partition, offset } = await append(deps, deps.topics.metrics, fact)
  return { partition, offset: Number(offset) }
}

const append = (
  { appendFact, now }: RunTimerDeps,
  { name }: { name: string },
  fact: UnstampedFact,
) => appendFact(name, { actor, requestId: 'run-keeper', now: now() }, fact)

async function abandonSilent(deps: RunTimerDeps): Promise<void> {
  const { rows } = await deps.pool.query<{ run_id: string }>(
    `select run_id from write.run_state
      where source = 'external' and ended_at is null and last_report_at < $1 limit $2`,
    [new Date(deps.now().getTime() - silenceMs), batch],
  )
  const abandon = ({ run_id }: { run_id: string }) =>
    commit(deps, { actor, requestId: 'run-keeper' }, runAt(run_id), {
      decide: run => abandonRun(run, run_id),
      alongside: (tx, { now }) => endRun(tx, run_id, 'abandoned', now),
    })
  await forEachApart(rows, abandon, failedRun(deps))
}
