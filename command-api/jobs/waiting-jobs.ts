import type { Pool } from 'pg'
import {
  inQueueOrder,
  noStanding,
  type Placed,
  type Standing,
  shareHours,
} from '../../events/calculations/queue-order.ts'
import type { WaitingJob } from '../../events/calculations/queue-picture.ts'
import type { Deps } from '../deps.ts'
import { runsAwaitingImports } from '../rules/imported-models.ts'
import { isOverBudget } from '../rules/over-budget.ts'
import { isOverPool } from '../rules/team-pool.ts'
import { runsAwaitingVolumes } from '../rules/volumes.ts'
import { hoursLeft } from './holds.ts'

/** A queued job, with everything that the queue shows and decides by. */
export type QueueRow = WaitingJob & {
  /** Whether its owner's quota has room for it now. */
  has_room: boolean
}

export type Queue = {
  /** In queue order. */
  jobs: Placed<QueueRow>[]
  /** The owners whose jobs wait. */
  standings: Map<string, Standing>
}

/** Every queued job, in queue order. */
export async function readQueue(pool: Pool, now: Date): Promise<Queue> {
  const { rows: found } = await pool.query<Omit<QueueRow, 'admitted_at'> & { admitted_ms: number }>(
    {
      name: 'queued_jobs',
      text: queuedJobs,
      values: [now],
    },
  )
  const rows = found.map(
    ({ admitted_ms, ...row }): QueueRow => ({ ...row, admitted_at: new Date(admitted_ms) }),
  )
  const owners = [...new Set(rows.map(({ owner }) => owner))]
  const standings = owners.length === 0 ? new Map() : await readStandings(pool, now, owners)
  return {
    jobs: inQueueOrder(rows, owner => standings.get(owner) ?? noStanding),
    standings,
  }
}

/** Whether an executor has queued jobs, due or not. */
export async function isAnyQueued(
  { pool }: Pick<Deps, 'pool'>,
  executor: string,
): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'any_queued',
    text: `select from write.job_state where state = 'queued' and executor = $1 limit 1`,
    values: [executor],
  })
  return rowCount === 1
}

export type Waiting = {
  /** The due jobs of an executor that fit into their owner's quota and whose models are here, in queue order. */
  ready: QueueRow[]
  /** Those among such jobs that wait for a volume instead. */
  withoutVolume: string[]
}

export async function readWaiting(
  { pool, now }: Pick<Deps, 'pool' | 'now'>,
  executor: string,
): Promise<Waiting> {
  const at = now()
  const [{ jobs }, importing] = await Promise.all([readQueue(pool, at), runsAwaitingImports(pool)])
  const ready = jobs.flatMap(({ job }) => {
    const isDue = job.not_before === null || job.not_before <= at
    const isReady = isDue && job.has_room && !importing.has(job.run_id)
    return job.executor === executor && isReady ? job : []
  })
  const excluded = await runsAwaitingVolumes(
    pool,
    ready.map(({ run_id }) => run_id),
  )
  return {
    ready: ready.filter(({ run_id }) => !excluded.has(run_id)),
    withoutVolume: [...excluded],
  }
}

/** What these people hold, and have used recently. */
export async function readStandings(
  pool: Pool,
  now: Date,
  owners: readonly string[],
): Promise<Map<string, Standing>> {
  const { rows } = await pool.query<Standing & { owner: string }>({
    name: 'standings',
    text: `select w.owner, coalesce(q.priority, 0) as class, coalesce(q.held_gpus, 0) as held_gpus,
                  (select coalesce(sum(u.gpus * extract(epoch from
                            coalesce(u.ended_at, $1) - greatest(u.started_at, ${sharedSince})
                          )), 0)::float8 / 3600
                     from write.gpu_use u
                    where u.username = w.owner and u.started_at < $1
                      and (u.ended_at is null or u.ended_at > ${sharedSince})) as used_gpu_hours
             from unnest($2::text[]) w (owner) left join write.quota q on q.username = w.owner`,
    values: [now, owners],
  })
  return new Map(rows.map(({ owner, ...standing }) => [owner, standing]))
}

const sharedSince = `$1::timestamptz - interval '${shareHours} hours'`

/** SQL: whether each owner of queued jobs has GPU hours of the day left, by series, where these are limited; `$1` is now. */
const hoursOfOwners = `
  select w.owner, w.series, (${hoursLeft({ owner: 'w.owner', series: 'w.series', now: '$1' })}) as are_left
    from (select distinct j.owner, j.series from write.job_state j join write.quota q on q.username = j.owner
           where j.state = 'queued' and j.gpus > 0
             and (q.daily_gpu_hours > 0 or q.per_series @? '$.*.daily_gpu_hours')) w
    join write.quota q on q.username = w.owner`

/** SQL: the queued jobs `j`, with the quotas `q` of their owners; `$1` is now. */
export const queued = `write.job_state j left join write.quota q on q.username = j.owner
    left join (${hoursOfOwners}) hours on hours.owner = j.owner and hours.series = j.series
   where j.state = 'queued'`

/** SQL: whether a job of `queued` waits for a budget; those of deployments do not. */
export const overItsBudget = `(j.serving is null and ${isOverBudget({ owner: 'j.owner', project: 'j.project', team: 'j.team', now: '$1' })})`

/** SQL: whether a job of `queued` waits for the pool of its team. */
export const overItsPool = isOverPool({ team: 'j.team', gpus: 'j.gpus', now: '$1' })

/** SQL: whether the quota of its owner, the pool of its team and the budgets have room for a job of `queued` now. */
export const hasRoom = `(coalesce(q.held_gpus, 0) + j.gpus <= coalesce(q.max_concurrent_gpus, 8)
  and coalesce(q.held_jobs, 0) < coalesce(q.max_concurrent_jobs, 4)
  and coalesce((q.held_series ->> j.series)::int, 0) + j.gpus
      <= coalesce((q.per_series -> j.series ->> 'max_concurrent_gpus')::int, 2147483647)
  and (j.gpus = 0 or coalesce(hours.are_left, true)) and not ${overItsBudget}
  and not ${overItsPool})`

const queuedJobs = `
  select j.run_id, j.short_id, j.owner, j.project, j.executor, j.series, j.profile, j.recipe, j.nodes, j.gpus, j.priority,
         -- A number is read many times as fast as a timestamp, and the queue may be long.
         (extract(epoch from j.admitted_at) * 1000)::float8 as admitted_ms, j.not_before, j.queue_reason as reason, ${hasRoom} as has_room
    from ${queued}`
