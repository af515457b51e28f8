import { forEachApart } from '../../../platform/each.ts'
import { isOneOf } from '../../../platform/postgres/one-of.ts'
import { leavingStates, respondingStates } from '../../../schemas/deployments/serving-states.ts'
import { endStates } from '../../../schemas/jobs/jobs.ts'
import { move } from '../decide.ts'
import { routeReplica } from '../rows.ts'
import { decideWith } from '../timers/decide-with.ts'
import { desiredReplicas, type Sample, samplesFor } from './desired.ts'
import type { ReplicaDeps } from './replicas.ts'

/** A gateway that has been silent this long counts as gone. */
const freshS = 5
/** After this time, every gateway knows that an engine drains and has reported its open requests. */
const heardMs = 4_000
/** A draining engine is ended after this time, even with open requests. */
const mostDrainMs = 3_600_000
const sampleEveryMs = 900
const mostAtOnce = 50

/** Samples of the last minutes, by deployment. A process that takes over starts from scratch. */
export type Samples = Map<string, Sample[]>

/** Decides how many engines deployments need, drains surplus ones, and suspends unused deployments. */
export const scaleDeployments = (
  deps: ReplicaDeps,
  samples: Samples,
  failed: (error: unknown) => void,
): Promise<unknown> =>
  forEachApart(
    [
      () => decideAll(deps, samples, failed),
      () => drainSurplus(deps),
      () => endDrained(deps),
      () => forgetOld(deps),
    ],
    step => step(),
    failed,
  )

type Scaled = {
  deployment_id: string
  min: number
  max: number
  target: number
  up_window_s: number
  down_window_s: number
  idle_suspend_s: number | null
  desired: number | null
  concurrency: number
  in_flight: number
  /** Since its last request, or since it began to serve. */
  idle_s: number
  isRunHere: boolean
}

async function decideAll(
  deps: ReplicaDeps,
  samples: Samples,
  failed: (error: unknown) => void,
): Promise<void> {
  await noteActive(deps)
  const { rows } = await deps.pool.query<Scaled>({
    name: 'deployments_to_scale',
    text: `select d.deployment_id, d.min_replicas as min, d.max_replicas as max, d.target_concurrency as target,
                  d.up_window_s, d.down_window_s, d.idle_suspend_s, d.desired_replicas as desired,
                  coalesce(l.concurrency, 0) as concurrency, coalesce(l.in_flight, 0)::int as in_flight,
                  extract(epoch from now() - d.active_at)::float8 as idle_s,
                  v.source ->> 'kind' <> 'external' as "isRunHere"
             from write.deployment_state d
             join write.revision_state v on v.revision_id = d.promoted_revision_id
             left join lateral (
               select sum(concurrency) as concurrency, sum(in_flight) as in_flight from write.serving_load
                where subject = d.deployment_id and seen_at > now() - make_interval(secs => ${freshS})) l on true
            where ${isOneOf('d.state', respondingStates)}
              and (d.max_replicas > 1 or d.desired_replicas is not null or d.idle_suspend_s is not null)`,
  })
  const known = new Set(rows.map(({ deployment_id }) => deployment_id))
  for (const id of samples.keys()) if (!known.has(id)) samples.delete(id)
  await forEachApart(rows, row => decideOne(deps, samples, row), failed)
}

async function decideOne(deps: ReplicaDeps, samples: Samples, row: Scaled): Promise<void> {
  const { deployment_id, idle_suspend_s, in_flight, idle_s, desired, isRunHere } = row
  if (idle_suspend_s !== null && in_flight === 0 && idle_s >= idle_suspend_s) {
    const reason = `no request for ${idle_suspend_s} s`
    await decideWith(deps, row, { decide: one => move(one, 'suspend', reason) })
    return
  }
  if (!isRunHere) return
  const nowMs = deps.now().getTime()
  const all = sampled(samples.get(deployment_id) ?? [], { atMs: nowMs, ...row })
  samples.set(deployment_id, samplesFor(row, all, nowMs))
  const next = desiredReplicas(row, desired ?? Math.max(1, row.min), all, nowMs)
  if (next === desired) return
  await deps.pool.query(
    'update write.deployment_state set desired_replicas = $2 where deployment_id = $1',
    [deployment_id, next],
  )
}

const sampled = (before: readonly Sample[], { atMs, concurrency }: Sample): Sample[] =>
  atMs - (before.at(-1)?.atMs ?? 0) < sampleEveryMs
    ? [...before]
    : [...before, { atMs, concurrency }]

/** The time of the last request is when its gateway reported it. */
const noteActive = ({ pool }: ReplicaDeps) =>
  pool.query({
    name: 'deployments_active',
    text: `update write.deployment_state d set active_at = l.seen_at
             from (select subject, max(seen_at) as seen_at from write.serving_load group by subject) l
            where l.subject = d.deployment_id and d.idle_suspend_s is not null and l.seen_at > d.active_at`,
  })

type Surplus = {
  replica_id: string
  deployment_id: string
  revision_id: string
  base_url: string | null
}

/** Only the promoted revision; the previous one keeps its engines, so that a rollback is immediate. */
async function drainSurplus(deps: ReplicaDeps): Promise<void> {
  const { rows } = await deps.pool.query<Surplus>({
    name: 'replicas_too_many',
    text: `select r.replica_id, r.deployment_id, r.revision_id, r.base_url
             from write.deployment_state d cross join lateral (
               select r.*, row_number() over (order by r.state = 'ready' desc, r.started_at, r.replica_id) as nth
                 from write.replica r
                where r.revision_id = d.promoted_revision_id and r.port is not null
                  and not ${isOneOf('r.state', leavingStates)}) r
            where ${isOneOf('d.state', respondingStates)}
              and r.nth > greatest(1, d.min_replicas, least(d.max_replicas, coalesce(d.desired_replicas, 1))) limit ${mostAtOnce}`,
  })
  await forEachApart(
    rows,
    row => drain(deps, row),
    (error, { replica_id }) =>
      deps.logger.error({ err: error, replica_id }, 'a replica could not be drained'),
  )
}

const drain = (deps: ReplicaDeps, { base_url, ...replica }: Surplus) =>
  decideWith(deps, replica, {
    decide: () => [],
    async also(tx) {
      await tx.query(
        `update write.replica set state = case when run_id is null then 'ended' else 'draining' end, draining_since = $2
          where replica_id = $1 and not ${isOneOf('state', leavingStates)}`,
        [replica.replica_id, deps.now()],
      )
      if (base_url !== null) await routeReplica(tx, { ...replica, base_url }, false)
    },
  })

/** Requests under way end on the engine that they began on. */
async function endDrained(deps: ReplicaDeps): Promise<void> {
  const ago = (ms: number) => new Date(deps.now().getTime() - ms)
  const { rows } = await deps.pool.query<{ run_id: string }>({
    name: 'replicas_drained',
    text: `select r.run_id from write.replica r join write.job_state j using (run_id)
            where r.state = 'draining' and not ${isOneOf('j.state', ['stopping', ...endStates])}
              and (r.draining_since < $2 or (r.draining_since < $1 and not exists (
                select from write.serving_load l
                 where l.subject = r.replica_id and l.in_flight > 0
                   and l.seen_at > now() - make_interval(secs => ${freshS}))))
            limit ${mostAtOnce}`,
    values: [ago(heardMs), ago(mostDrainMs)],
  })
  await forEachApart(
    rows,
    ({ run_id }) => deps.jobs.stop(run_id, 'fewer engines are needed'),
    (error, { run_id }) =>
      deps.logger.error({ err: error, run_id }, 'the job of a replica could not be stopped'),
  )
}

const forgetOld = ({ pool }: ReplicaDeps) =>
  pool.query("delete from write.serving_load where seen_at < now() - interval '10 minutes'")
