import type { Pool } from 'pg'
import {
  type Correction,
  correctionOf,
  countedOutcomes,
  leastPast,
  type Outlook,
  type Room,
  type ToEnd,
  type ToStart,
} from '../../events/calculations/queue-forecast.ts'
import type { Placed } from '../../events/calculations/queue-order.ts'
import type { HoldingJob, WaitingJob } from '../../events/calculations/queue-picture.ts'
import { defaultQuota } from '../../schemas/quotas.ts'
import type { QueueRow } from './waiting-jobs.ts'

/** Everything besides the queue on which the start of waiting jobs depends. */
export type Ground = {
  holding: HoldingJob[]
  held: WaitingJob[]
  profiles: ProfileRow[]
  capacity: Map<string, number>
  rooms: Map<string, Room>
  /** By recipe and profile: how many seconds recent attempts held their GPUs, ascending. */
  past: Map<string, number[]>
  /** By executor. */
  corrections: Map<string, Correction>
  /** Executors that start nothing until somebody allows it, at an unknown time. */
  closed: { has(executor: string): boolean }
}

/** `gpus`: the total over all nodes. */
type ProfileRow = { name: string; series: string; executor: string; gpus: number }

/** How many past attempts of a kind count: enough for a 90th percentile, few enough to follow a change. */
const countedPast = 50

export async function readGround(pool: Pool): Promise<Omit<Ground, 'closed'>> {
  const [holding, held, profiles, rooms, past, waits] = await Promise.all([
    pool.query<HoldingJob>({ name: 'holding_jobs', text: holdingJobs }),
    pool.query<WaitingJob>({ name: 'held_jobs', text: heldJobs }),
    pool.query<ProfileRow>({ name: 'queue_profiles', text: profilesNow }),
    pool.query<Room & { username: string }>({ name: 'rooms_of_owners', text: roomsOf }),
    pool.query<{ recipe: string; profile: string; seconds: number[] }>({
      name: 'past_holds',
      text: pastHolds,
      values: [countedPast],
    }),
    pool.query<PastWait>({ name: 'past_waits', text: pastWaits, values: [countedOutcomes] }),
  ])
  return {
    holding: holding.rows,
    held: held.rows,
    profiles: profiles.rows,
    capacity: capacityOf(profiles.rows),
    rooms: new Map(rooms.rows.map(({ username, gpus, jobs }) => [username, { gpus, jobs }])),
    past: new Map(past.rows.map(row => [kindOf(row), row.seconds])),
    corrections: correctionsOf(waits.rows),
  }
}

type PastWait = { executor: string; p50: number; p90: number; wait: number }

const pastWaits = `
  select w.executor, w.p50_s as p50, w.p90_s as p90, w.waited_s as wait
    from (select distinct executor from write.profile) e, lateral (
      select * from write.past_wait p where p.executor = e.executor order by started_at desc limit $1) w`

const correctionsOf = (rows: readonly PastWait[]): Map<string, Correction> =>
  new Map(
    [...Map.groupBy(rows, ({ executor }) => executor)].map(([executor, own]) => [
      executor,
      correctionOf(own.map(({ p50, p90, wait }) => ({ range: { p50, p90 }, wait }))),
    ]),
  )

const holdingJobs = `
  select run_id, short_id, owner, project, executor, series, profile, recipe, gpus, scheduled_at, limit_at
    from write.job_state where is_active and scheduled_at is not null`

/** More than anybody will read. */
const mostHeld = 1000

const heldJobs = `
  select run_id, short_id, owner, project, executor, series, profile, recipe, gpus, priority, admitted_at, not_before,
         'not_before' as reason
    from write.job_state where state = 'held' order by not_before, run_id limit ${mostHeld}`

const profilesNow = `
  select name, series, executor,
         -- The nodes of a job on one machine share its GPUs.
         gpus_per_node * case when executor = 'local' then 1 else max_nodes end as gpus
    from write.profile where available order by name`

type OfSeries = { executor: string; series: string }
const seriesKey = ({ executor, series }: OfSeries) => JSON.stringify([executor, series])

/** Profiles of one series are views of the same GPUs. */
function gpusOfSeries(profiles: readonly ProfileRow[]): Map<string, number> {
  const gpus = new Map<string, number>()
  for (const profile of profiles) {
    const key = seriesKey(profile)
    gpus.set(key, Math.max(gpus.get(key) ?? 0, profile.gpus))
  }
  return gpus
}

/** GPUs by executor: several series add up. */
function capacityOf(profiles: readonly ProfileRow[]): Map<string, number> {
  const capacity = new Map<string, number>()
  for (const [key, gpus] of gpusOfSeries(profiles)) {
    const [executor] = JSON.parse(key) as [string, string]
    capacity.set(executor, (capacity.get(executor) ?? 0) + gpus)
  }
  return capacity
}

/** By profile: the GPUs of its series that these jobs leave free. */
export function idleGpus(
  profiles: readonly ProfileRow[],
  jobs: readonly (OfSeries & { gpus: number })[],
): Map<string, number> {
  const left = gpusOfSeries(profiles)
  const taken = new Map<string, Map<string, number>>()
  for (const { executor, series, gpus } of jobs) {
    const bySeries = taken.get(executor) ?? new Map<string, number>()
    taken.set(executor, bySeries.set(series, (bySeries.get(series) ?? 0) + gpus))
  }
  return new Map(
    profiles.map(profile => {
      const used = taken.get(profile.executor)?.get(profile.series) ?? 0
      return [profile.name, (left.get(seriesKey(profile)) ?? 0) - used]
    }),
  )
}

const roomsOf = `
  select q.username, q.max_concurrent_gpus as gpus, q.max_concurrent_jobs as jobs from write.quota q
   where exists (select from write.job_state j where j.owner = q.username and j.state = 'queued')`

const pastHolds = `
  select kind.recipe, kind.profile, array(
           select seconds from (
             select seconds from write.past_hold h where h.recipe = kind.recipe and h.profile = kind.profile
              order by ended_at desc limit $1) newest order by seconds) as seconds
    from (select distinct recipe, profile from write.job_state
           where (state = 'queued' or is_active) and recipe is not null) kind`

type Kind = { recipe: string | null; profile: string }
const kindOf = ({ recipe, profile }: Kind) => JSON.stringify([recipe, profile])

/** The quota of a user without an explicit one. */
const usualRoom: Room = {
  gpus: defaultQuota.max_concurrent_gpus,
  jobs: defaultQuota.max_concurrent_jobs,
}
export const roomOf = ({ rooms }: Ground, owner: string): Room => rooms.get(owner) ?? usualRoom

/** The same in seconds from `now`, up to the horizon of the forecast. */
export function outlookOf(queue: readonly Placed<QueueRow>[], ground: Ground, now: Date): Outlook {
  const secondsTo = (at: Date) => (at.getTime() - now.getTime()) / 1000
  const pastOf = (kind: Kind) => ground.past.get(kindOf(kind)) ?? []
  const earliest = ({ executor, not_before }: QueueRow) => {
    if (ground.closed.has(executor)) return Number.POSITIVE_INFINITY
    return not_before === null ? 0 : Math.max(0, secondsTo(not_before))
  }
  const waiting = queue.map(
    ({ job }): ToStart => ({
      owner: job.owner,
      executor: job.executor,
      gpus: job.gpus,
      past: pastOf(job),
      not_before_s: earliest(job),
    }),
  )
  const running = ground.holding.map(
    (job): ToEnd => ({
      owner: job.owner,
      executor: job.executor,
      gpus: job.gpus,
      past: pastOf(job),
      held_s: Math.max(0, -secondsTo(job.scheduled_at)),
      limit_s: job.limit_at === null ? null : secondsTo(job.limit_at),
    }),
  )
  const rooms = new Map(queue.map(({ job: { owner } }) => [owner, roomOf(ground, owner)]))
  return { waiting, running, capacity: ground.capacity, rooms }
}

/** The median remaining seconds of similar attempts that ran longer than this one has so far. */
export function expectedLeft(job: HoldingJob, { past }: Ground, now: Date): number | null {
  const held = (now.getTime() - job.scheduled_at.getTime()) / 1000
  const before = past.get(kindOf(job)) ?? []
  const longer = before.filter(seconds => seconds > held)
  const median = longer[Math.floor(longer.length / 2)]
  if (before.length < leastPast || median === undefined) return null
  const limit = job.limit_at === null ? null : (job.limit_at.getTime() - now.getTime()) / 1000
  return Math.max(0, Math.round(Math.min(median - held, limit ?? Number.POSITIVE_INFINITY)))
}
