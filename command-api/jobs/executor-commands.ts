import { type Job, jobAt } from '../../events/job-state.ts'
import type { JobAdmitted, JobEvent } from '../../events/jobs.ts'
import type { QueueReason } from '../../schemas/jobs.ts'
import type { Deps } from '../deps.ts'
import type { Stamp, Transaction } from '../event-store.ts'
import { endIngestTokens, issueIngestToken } from '../tokens.ts'
import { type AttemptEnd, attemptEnded } from './attempt-end.ts'
import { changeJob } from './change.ts'
import { executorRunning, limit, queue, schedule } from './decide.ts'
import { takeQuota, takeSlots } from './holds.ts'
import { nextLimit } from './limits.ts'
import { queueOrder } from './queue-place.ts'

/** Maximum queued jobs per pass of the executor. */
const lookedAt = 200

/** The job has changed, or another process was faster; the transaction is rolled back. */
class NotNow extends Error {
  readonly why: 'quota_in_use' | 'gone'
  constructor(why: 'quota_in_use' | 'gone') {
    super(why)
    this.why = why
  }
}

type Needed = Pick<Deps, 'store' | 'pool' | 'now' | 'baseUrl'>

/** The commands of the executor with this name; each decides from the job's events and may be repeated. */
export function executorCommands(deps: Needed, executor: string) {
  const stamp = (): Stamp => ({
    actor: { type: 'system', id: 'executor', via: executor },
    requestId: `executor-${executor}`,
    now: deps.now(),
  })
  const change = (run_id: string, decide: (job: Job) => JobEvent[]) =>
    changeJob(deps.store, { run_id, stamp: stamp() }, decide)
  return {
    waiting: () => readWaiting(deps, executor),
    active: () => readActive(deps, executor),

    async schedule(run_id: string, gpu_indexes: readonly number[]) {
      const now = deps.now()
      const placement = { executor, nodes: [executor], gpu_indexes: [...gpu_indexes] }
      try {
        const { events } = await changeJob(
          deps.store,
          {
            run_id,
            stamp: stamp(),
            reserve: tx => reserve(tx, { run_id, executor, gpu_indexes, now }),
          },
          job => schedule(job, placement),
        )
        return events.length > 0 ? ('scheduled' as const) : ('gone' as const)
      } catch (error) {
        if (error instanceof NotNow) return error.why
        throw error
      }
    },

    async keepWaiting(run_id: string, reason: QueueReason) {
      await change(run_id, job => queue(job, reason))
    },

    launch: (run_id: string, attempt: number) =>
      deps.store.transaction(tx => readOrder(deps, tx, { run_id, attempt })),

    async executorRunning(run_id: string, attempt: number, at: Date) {
      await change(run_id, job => executorRunning(job, attempt, at.toISOString()))
    },

    async stopForLimit(run_id: string, attempt: number) {
      const now = deps.now()
      await change(run_id, job => {
        const reached = nextLimit(job)
        const isOver = job.attempt === attempt && reached !== null && reached.at <= now
        return isOver ? limit(job, reached.message, now) : []
      })
    },

    async shipped(run_id: string, attempt: number, offsets: { stdout: number; stderr: number }) {
      await deps.pool.query(
        `update write.job_state set shipped_stdout = $3, shipped_stderr = $4
          where run_id = $1 and attempt = $2`,
        [run_id, attempt, offsets.stdout, offsets.stderr],
      )
    },

    async exited(run_id: string, attempt: number, seen: SeenExit) {
      await change(run_id, job => attemptEnded(job, toAttemptEnd(attempt, seen)))
    },
  }
}

/** The end of an attempt, as observed by an executor. */
export type SeenExit = {
  startedAt: Date | null
  endedAt: Date
  exitCode: number | null
  signal: string | null
  oomKilled: boolean
  launchError: string | null
}

const toAttemptEnd = (attempt: number, seen: SeenExit): AttemptEnd => ({
  attempt,
  exit_code: seen.exitCode,
  signal: seen.signal,
  oom_killed: seen.oomKilled,
  launch_error: seen.launchError,
  was_running: seen.startedAt !== null,
  ended_at: seen.endedAt.toISOString(),
  preempted: false,
})

/** The due jobs that fit into their owner's quota, in queue order. */
async function readWaiting({ pool, now }: Needed, executor: string) {
  const { rows } = await pool.query<{ run_id: string; gpus: number; reason: QueueReason | null }>({
    name: 'waiting_jobs',
    text: `select j.run_id, j.gpus, j.queue_reason as reason
             from write.job_state j left join write.quota q on q.username = j.owner
            where j.state = 'queued' and j.executor = $1 and (j.not_before is null or j.not_before <= $2)
              and ${hasRoom}
            order by ${queueOrder} limit ${lookedAt}`,
    values: [executor, now()],
  })
  return rows
}

/** SQL: whether quota `q` of its owner currently has room for job `j`. */
export const hasRoom = `coalesce(q.held_gpus, 0) + j.gpus <= coalesce(q.max_concurrent_gpus, 8)
  and coalesce(q.held_jobs, 0) < coalesce(q.max_concurrent_jobs, 4)
  and coalesce((q.held_series ->> j.series)::int, 0) + j.gpus
      <= coalesce((q.per_series -> j.series ->> 'max_concurrent_gpus')::int, 2147483647)`

type ActiveRow = {
  run_id: string
  attempt: number
  gpu_indexes: number[]
  scheduled_at: Date
  executor_running: boolean
  stop_at: Date | null
  stop_grace_s: number
  stop_force: boolean
  limit_at: Date | null
  shipped_stdout: number
  shipped_stderr: number
}

async function readActive({ pool, now }: Needed, executor: string) {
  const { rows } = await pool.query<ActiveRow>({
    name: 'active_attempts',
    text: `select j.*, coalesce((select array_agg(gpu_index order by gpu_index)
                                   from write.gpu_slot s where s.run_id = j.run_id), '{}') as gpu_indexes
             from write.job_state j where j.is_active and j.executor = $1 order by j.run_id`,
    values: [executor],
  })
  return rows.map(row => ({
    run_id: row.run_id,
    attempt: row.attempt,
    gpu_indexes: row.gpu_indexes,
    scheduled_at: row.scheduled_at,
    executor_running: row.executor_running,
    stop:
      row.stop_at !== null && row.stop_at <= now()
        ? { grace_s: row.stop_grace_s, force: row.stop_force }
        : null,
    limit_at: row.limit_at,
    shipped: { stdout: row.shipped_stdout, stderr: row.shipped_stderr },
  }))
}

type Reservation = {
  run_id: string
  executor: string
  gpu_indexes: readonly number[]
  now: Date
}

async function reserve(tx: Transaction, wanted: Reservation): Promise<void> {
  const { run_id, now } = wanted
  const { rows } = await tx.query(
    'select owner as username, series, gpus from write.job_state where run_id = $1',
    [run_id],
  )
  if (!(await takeQuota(tx, { run_id, now, ...rows[0] }))) throw new NotNow('quota_in_use')
  if (!(await takeSlots(tx, wanted))) throw new NotNow('gone')
}

/** What to run, with a new ingest token; earlier tokens of the run end. */
async function readOrder(
  deps: Needed,
  tx: Transaction,
  { run_id, attempt }: { run_id: string; attempt: number },
) {
  const { rows } = await tx.query(
    `select fencing_token, env, coalesce((select array_agg(gpu_index order by gpu_index)
              from write.gpu_slot s where s.run_id = j.run_id), '{}') as gpu_indexes
       from write.job_state j where run_id = $1 and attempt = $2 and is_active`,
    [run_id, attempt],
  )
  const row = rows[0]
  const { events } = await deps.store.load<JobEvent>(jobAt(run_id).stream, tx)
  const admitted = events.find(event => event.type === 'job.admitted')
  if (!row || !admitted) throw new Error(`attempt ${attempt} of ${run_id} is not to be launched`)
  const now = deps.now()
  await endIngestTokens(tx, run_id, now)
  const { token } = await issueIngestToken(tx, { run_id, now })
  const { recipe, params, resolved, spec } = admitted.data
  return {
    run_id,
    attempt,
    fencing_token: Number(row.fencing_token),
    gpu_indexes: row.gpu_indexes as number[],
    recipe,
    params,
    init_from: resolved.init_from && { ...resolved.init_from, load: loadOf(spec) },
    resume_from: attempt > 1 ? await newestCheckpoint(tx, run_id) : null,
    env: row.env as Record<string, string>,
    reporting: {
      SERVICE_ENABLED: '1',
      SERVICE_ENDPOINT: `${deps.baseUrl()}/api/ingest`,
      SERVICE_RUN_ID: run_id,
      SERVICE_TOKEN: token,
    },
  }
}

/** Artifacts list the ways to load them; the first one is used. */
function loadOf({ spec }: JobAdmitted['spec']): string {
  const load = spec.init_from?.load ?? 'weights'
  return typeof load === 'string' ? load : (load[0] ?? 'weights')
}

/** The checkpoint from which the next attempt resumes. */
async function newestCheckpoint(tx: Transaction, run_id: string): Promise<string | null> {
  const { rows } = await tx.query(
    `select path from write.artifact
      where run_id = $1 and kind = 'checkpoint' order by step desc, artifact_id desc limit 1`,
    [run_id],
  )
  return rows[0]?.path ?? null
}
