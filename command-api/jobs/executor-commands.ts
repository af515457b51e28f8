import { type Job, jobAt } from '../../events/job-state.ts'
import type { Exit, JobEvent, NodeOfRank } from '../../events/jobs.ts'
import type { QueueReason } from '../../schemas/jobs/jobs.ts'
import { type CommitDeps, commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { type KnownCheckpoint, newestCheckpoint } from '../rules/newest-checkpoint.ts'
import { whyClosed } from '../rules/queue-switches.ts'
import {
  type AttemptOfRun,
  type ExecutorHost,
  readActive,
  readHeldGpus,
  readOver,
} from './active-attempts.ts'
import { attemptEnded } from './attempt-end.ts'
import { executorRunning, limit, placed, schedule } from './decide.ts'
import { claim, noteSeen, readLost } from './hosts.ts'
import { readOrder } from './launch-order.ts'
import { nextLimit } from './limits.ts'
import { readNewPrices, reprice } from './prices.ts'
import { NotNow, reserve } from './reservation.ts'
import { CheckpointGone, saveJob } from './rows.ts'
import { noteReasonOfAll, noteWaitReasons, readReady, type Wait } from './wait-reason.ts'
import { isAnyQueued } from './waiting-jobs.ts'

/** By rank. */
type Offsets = readonly { stdout: number; stderr: number }[]
type Needed = CommitDeps & Pick<Deps, 'pool' | 'baseUrl' | 'sealing'>

/** The commands of an executor on one machine; each decides by the job's events and is idempotent. */
export function executorCommands(deps: Needed, { executor, engine, runsDirectory }: ExecutorHost) {
  const cause = {
    actor: { type: 'system', id: 'executor', via: executor },
    requestId: `executor-${executor}`,
  } as const
  const change = (run_id: string, decide: (job: Job, now: Date) => JobEvent[]) =>
    commit(deps, cause, jobAt(run_id), { decide, alongside: saveJob })
  return {
    waiting: () => readReady(deps, executor),
    active: () => readActive(deps, { executor, engine }),
    over: (attempts: readonly AttemptOfRun[]) => readOver(deps.pool, attempts),
    heldGpus: () => readHeldGpus(deps.pool, { executor, engine }),
    noteSeen: () => noteSeen(deps, { engine, runsDirectory }),
    claim: (run_id: string, attempt: number) => claim(deps, { run_id, attempt }, engine),
    lostElsewhere: (silentMs: number) => readLost(deps, executor, silentMs),

    async schedule(run_id: string, gpu_indexes: readonly number[]) {
      const placement = { executor, nodes: [executor], gpu_indexes: [...gpu_indexes] }
      const scheduled = withCheckpoint(deps, run_id, checkpoint =>
        commit(deps, cause, jobAt(run_id), {
          decide: job => schedule(job, placement, checkpoint),
          async alongside(tx, decided) {
            await reserve(tx, { run_id, engine, gpu_indexes, now: decided.now })
            await saveJob(tx, decided)
          },
        }),
      )
      return scheduled.then(({ events }) => (events.length > 0 ? 'scheduled' : 'gone'), whyNotNow)
    },
    isAnyQueued: () => isAnyQueued(deps, executor),
    whyClosed: () => whyClosed(deps.pool, { executor, engine }),
    recordWaitReasons: (waits: readonly Wait[]) => noteWaitReasons(deps.pool, waits),
    recordWaitReasonOfAll: (reason: QueueReason) => noteReasonOfAll(deps, executor, reason),

    launch: (run_id: string, attempt: number) =>
      deps.store.transaction(tx => readOrder(deps, tx, { run_id, attempt })),

    async executorRunning(run_id: string, attempt: number, started_at: string) {
      await change(run_id, job => executorRunning(job, attempt, started_at))
    },

    async stopForLimit(run_id: string, attempt: number) {
      await change(run_id, (job, now) => {
        const reached = nextLimit(job)
        const isOver = job.attempt === attempt && reached !== null && reached.at <= now
        return isOver ? limit(job, reached.message, now) : []
      })
    },

    async placed(run_id: string, attempt: number, nodes: readonly NodeOfRank[]) {
      await change(run_id, job => placed(job, attempt, nodes))
    },

    async shipped(run_id: string, attempt: number, offsets: Offsets) {
      await deps.pool.query(
        'update write.job_state set shipped = $3 where run_id = $1 and attempt = $2',
        [run_id, attempt, JSON.stringify(offsets)],
      )
    },

    async exited(
      run_id: string,
      attempt: number,
      { started_at, exit }: { started_at: string | null; exit: Exit },
    ) {
      const was_running = started_at !== null
      // A price set after this read applies only after the end.
      const prices = await readNewPrices(deps, run_id)
      await change(run_id, job => {
        const ended = attemptEnded(job, { attempt, exit, was_running, preempted: false })
        return ended.length === 0 ? [] : [...reprice(job, prices), ...ended]
      })
    },
  }
}

/** Chooses again if the checkpoint is deleted meanwhile. That happens at most once: a job's newest checkpoint stays until the job ends. */
async function withCheckpoint<T>(
  { pool }: Needed,
  run_id: string,
  go: (checkpoint: KnownCheckpoint | null) => Promise<T>,
): Promise<T> {
  try {
    return await go(await newestCheckpoint(pool, run_id))
  } catch (error) {
    if (!(error instanceof CheckpointGone)) throw error
    return go(await newestCheckpoint(pool, run_id))
  }
}

function whyNotNow(error: unknown) {
  if (error instanceof NotNow) return error.why
  throw error
}
