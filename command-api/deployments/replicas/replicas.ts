import { forEachApart } from '../../../platform/each.ts'
import { socketAddress } from '../../../platform/http/address.ts'
import { isOneOf } from '../../../platform/postgres/one-of.ts'
import { Refusal } from '../../../platform/refusal.ts'
import type { Serving, Source } from '../../../schemas/deployments/deployments.ts'
import { engineSocket, type Replica } from '../../../schemas/deployments/replicas.ts'
import {
  goneStates,
  leavingStates,
  overStates,
  restingStates,
} from '../../../schemas/deployments/serving-states.ts'
import { endStates } from '../../../schemas/jobs/jobs.ts'
import type { Deps } from '../../deps.ts'
import type { ReplicaJobs } from '../ports.ts'
import { progressRevision, revisionFailed } from '../revisions/decide.ts'
import { routeReplica } from '../rows.ts'
import { decideWith, type ServingDeps } from '../timers/decide-with.ts'

export type ReplicaDeps = ServingDeps & Pick<Deps, 'newId'> & { jobs: ReplicaJobs }

/** Where engines listen on the nodes of a cluster. */
const ports = { first: 20_000, count: 10_000 }
/** A revision has failed once this many of its engines ended before responding. */
const mostStarts = 3
const backOffMs = { first: 1_000, most: 300_000 }
/** An engine that ended after running this long is restarted as if it were the first. */
const steadyMs = 600_000
const mostAtOnce = 50
/** Pause after a failed submission. */
const submitAgainMs = 10_000

/** Starts missing replicas, follows the jobs of running ones, and ends unneeded ones. Every step is idempotent. */
export const lookAfterReplicas = (deps: ReplicaDeps, failed: (error: unknown) => void) =>
  forEachApart(
    [() => plan(deps), () => submitPlanned(deps), () => follow(deps), () => endUnneeded(deps)],
    step => step(),
    failed,
  )

/** A row for each replica that is missing; only then is its job submitted, so that a crash between the two loses none. */
async function plan({ pool, now, newId }: ReplicaDeps): Promise<void> {
  const { rows } = await pool.query<{ revision_id: string; deployment_id: string }>({
    name: 'replicas_missing',
    text: `select v.revision_id, v.deployment_id
             from write.revision_state v join write.deployment_state d using (deployment_id)
            where v.source ->> 'kind' <> 'external' and not ${isOneOf('v.state', overStates)}
              and v.next_start_at <= $1
              and not ${isOneOf('d.state', restingStates)}
              and (select count(*) from write.replica r
                    where r.revision_id = v.revision_id and not ${isOneOf('r.state', leavingStates)})
                < greatest(1, d.min_replicas, case when d.promoted_revision_id = v.revision_id
                                                   then least(d.max_replicas, coalesce(d.desired_replicas, 1)) else 1 end)
            limit ${mostAtOnce}`,
    values: [now()],
  })
  for (const { revision_id, deployment_id } of rows)
    await pool.query(
      `insert into write.replica (replica_id, revision_id, deployment_id, state, started_at, next_at, port)
       select $1, $2, $3, 'starting', $4, $4, port
         from generate_series($5::int, $6::int) port
        where not exists (select from write.replica o where o.port = port.port and o.state <> 'ended')
        order by random() limit 1`,
      [
        ...[newId('rep'), revision_id, deployment_id, now()],
        ...[ports.first, ports.first + ports.count - 1],
      ],
    )
}

type Planned = {
  replica_id: string
  revision_id: string
  deployment_id: string
  port: number
  source: Source
  serving: Serving
  project: string
  team: string | null
  name: string
  owner: string
  role: 'admin' | 'operator'
  /** The executor of the profile; null: this machine's. */
  executor: string | null
}

async function submitPlanned(deps: ReplicaDeps): Promise<void> {
  const { rows } = await deps.pool.query<Planned>({
    name: 'replicas_planned',
    text: `select r.replica_id, r.revision_id, r.deployment_id, r.port, v.source, v.serving, d.project, d.team, d.name, d.owner, p.role,
                  (select executor from write.profile f where f.name = v.serving ->> 'profile') as executor
             from write.replica r join write.revision_state v using (revision_id)
             join write.deployment_state d on d.deployment_id = r.deployment_id
             join auth.person p on p.username = d.owner
            where not ${isOneOf('r.state', leavingStates)} and r.port is not null and r.run_id is null and r.next_at <= $1
              and not ${unneeded}
            order by r.next_at limit ${mostAtOnce}`,
    values: [deps.now()],
  })
  await forEachApart(
    rows,
    row => submitOne(deps, row),
    (error, { replica_id }) =>
      deps.logger.error({ err: error, replica_id }, 'a replica could not be started, will retry'),
  )
}

async function submitOne(deps: ReplicaDeps, planned: Planned): Promise<void> {
  const { replica_id, revision_id } = planned
  // If it throws, it is retried after the others.
  await deps.pool.query('update write.replica set next_at = $2 where replica_id = $1', [
    replica_id,
    new Date(deps.now().getTime() + submitAgainMs),
  ])
  try {
    const { run_id } = await deps.jobs.submit(wantedOf(planned))
    await deps.pool.query('update write.replica set run_id = $2 where replica_id = $1', [
      replica_id,
      run_id,
    ])
  } catch (error) {
    // A gate would refuse again; any other failure may be transient.
    if (!(error instanceof Refusal) || error.code === 'unavailable') throw error
    const { detail: reason } = error
    await decideWith(deps, planned, {
      decide: one => revisionFailed(one, revision_id, { reason, checks: [] }),
      also: tx =>
        tx.query(
          "update write.replica set state = 'ended', last_error = $2 where replica_id = $1",
          [replica_id, reason],
        ),
    })
  }
}

function wantedOf({ replica_id, source, serving, port, ...of }: Planned): Replica {
  const { template, template_version, template_digest, framework, params, args } = serving
  const { served_names, tensor_parallel, profile } = serving
  const isWhole = template_version !== null && template_digest !== null && framework !== null
  const { artifact_id, hub_ref } = source
  if (template === null || !isWhole || (artifact_id ?? hub_ref) === null)
    throw new Error(`${replica_id} has no template or no model`)
  const lock = {
    ...{ name: `serving.${template}`, version: template_version, digest: template_digest },
    framework,
  }
  return {
    ...{ replica_id, lock, params, profile, priority: 0 },
    owner: { username: of.owner, role: of.role },
    project: of.project,
    team: of.team,
    name: `${of.name} (serving)`.slice(0, 200),
    labels: { deployment_id: of.deployment_id, revision_id: of.revision_id },
    ...{ artifact_id, hub_ref },
    gpus: tensor_parallel > 1 ? tensor_parallel : null,
    serving: {
      host: of.executor === 'slurm' ? '0.0.0.0' : '127.0.0.1',
      port,
      served_names,
      args,
      tensor_parallel,
    },
  }
}

const unneeded = `(${isOneOf('v.state', overStates)} or ${isOneOf('d.state', restingStates)})`

type Followed = {
  replica_id: string
  revision_id: string
  deployment_id: string
  base_url: string | null
  port: number
  run_id: string
  job: string
  queue_reason: string | null
  executor: string
  placed_on: string[]
  /** Where the sockets of engines are; null on a cluster, whose engines listen on the network. */
  runs_directory: string | null
  restarts: number
  started_at: Date
  /** It was ended because it is no longer needed. */
  isUnneeded: boolean
}

/** Updates replicas from the state of their jobs. */
async function follow(deps: ReplicaDeps): Promise<void> {
  const { rows } = await deps.pool.query<Followed>({
    name: 'replicas_followed',
    text: `select r.replica_id, r.revision_id, r.deployment_id, r.base_url, r.port, r.run_id, r.started_at,
                  j.state as job, j.queue_reason, j.executor, j.placed_on, write.runs_directory_of(j.engine) as runs_directory, v.restarts,
                  (r.state = 'draining' or ${unneeded}) as "isUnneeded"
             from write.replica r join write.job_state j using (run_id)
             join write.revision_state v on v.revision_id = r.revision_id
             join write.deployment_state d on d.deployment_id = r.deployment_id
            where r.state <> 'ended' and (r.base_url is null or not j.is_active)`,
  })
  await forEachApart(
    rows,
    row => followOne(deps, row),
    (error, { replica_id }) =>
      deps.logger.error({ err: error, replica_id }, 'a replica could not be followed'),
  )
}

const ended: ReadonlySet<string> = new Set(endStates)
const progressOf: Record<string, 'placing' | 'pulling' | 'loading'> = {
  ...{ admitted: 'placing', held: 'placing', queued: 'placing' },
  ...{ scheduled: 'pulling', starting: 'loading' },
}

async function followOne(deps: ReplicaDeps, replica: Followed): Promise<void> {
  const { replica_id, revision_id, job, queue_reason } = replica
  if (ended.has(job)) return endOne(deps, replica)
  const state = progressOf[job]
  if (state)
    return decideWith(deps, replica, {
      decide: one =>
        progressRevision(one, revision_id, {
          state,
          reason: state === 'placing' ? queue_reason : null,
        }),
    })
  if (job !== 'running' || replica.base_url !== null) return
  const base_url = addressOf(replica)
  if (base_url === null) return
  // Probes begin now; its time in the queue does not count.
  await deps.pool.query(
    'update write.replica set base_url = $2, next_at = $3, started_at = $3 where replica_id = $1',
    [replica_id, base_url, deps.now()],
  )
}

/**
 * Nothing that an engine reports decides it. On this machine a port would belong to the first process that listens on it,
 * perhaps of another run; the socket is in a folder that only the engine and the server may enter.
 */
function addressOf({ executor, run_id, runs_directory, placed_on, port }: Followed): string | null {
  if (executor === 'local')
    return runs_directory && socketAddress(engineSocket(runs_directory, run_id))
  return placed_on[0] === undefined ? null : `http://${placed_on[0]}:${port}`
}

async function endOne(deps: ReplicaDeps, replica: Followed): Promise<void> {
  const { replica_id, revision_id, restarts, run_id, started_at, base_url } = replica
  const now = deps.now()
  // Engines started and ended by demand do not count towards the limit.
  if (replica.isUnneeded) return endQuietly(deps, replica)
  const wasSteady = base_url !== null && now.getTime() - started_at.getTime() > steadyMs
  const times = wasSteady ? 1 : restarts + 1
  const waitMs = Math.min(backOffMs.most, backOffMs.first * 2 ** Math.min(times, 16))
  const reason = `${await whyEnded(deps, run_id)}; its log: forge logs ${run_id}`
  await decideWith(deps, replica, {
    decide: one =>
      times >= mostStarts ? revisionFailed(one, revision_id, { reason, checks: [] }) : [],
    async also(tx) {
      await tx.query(
        "update write.replica set state = 'ended', last_error = $2 where replica_id = $1",
        [replica_id, reason],
      )
      await tx.query(
        'update write.revision_state set restarts = $2, next_start_at = $3 where revision_id = $1',
        [revision_id, times, new Date(now.getTime() + waitMs)],
      )
      if (base_url !== null) await routeReplica(tx, { ...replica, base_url }, false)
    },
  })
}

const endQuietly = (deps: ReplicaDeps, { base_url, ...replica }: Followed) =>
  decideWith(deps, replica, {
    decide: () => [],
    async also(tx) {
      await tx.query("update write.replica set state = 'ended' where replica_id = $1", [
        replica.replica_id,
      ])
      if (base_url !== null) await routeReplica(tx, { ...replica, base_url }, false)
    },
  })

async function whyEnded({ pool }: ReplicaDeps, run_id: string): Promise<string> {
  const { rows } = await pool.query<{ reason: string; message: string | null }>(
    `select data ->> 'reason' as reason, data ->> 'message' as message from write.event
      where stream = $1 and type in ('job.failed', 'job.stopped', 'job.succeeded')
      order by stream_version desc limit 1`,
    [`job-${run_id}`],
  )
  const [end] = rows
  return `its engine ended (${[end?.reason, end?.message].filter(Boolean).join(': ') || 'without a reason'})`
}

/** Ends the jobs of replicas that are no longer needed, or have not responded for long. */
async function endUnneeded(deps: ReplicaDeps): Promise<void> {
  await deps.pool.query(
    `update write.replica r set state = 'ended'
       from write.revision_state v join write.deployment_state d using (deployment_id)
      where v.revision_id = r.revision_id and r.state <> 'ended' and r.run_id is null
        and (case when r.port is null then ${isOneOf('v.state', overStates)} or ${isOneOf('d.state', goneStates)}
                  else ${unneeded} end)`,
  )
  const { rows } = await deps.pool.query<{ run_id: string }>(
    `select r.run_id
       from write.replica r join write.revision_state v using (revision_id)
       join write.deployment_state d on d.deployment_id = r.deployment_id
       join write.job_state j using (run_id)
      where r.state <> 'ended' and not ${isOneOf('j.state', ['stopping', ...endStates])}
        and (${unneeded} or (r.state = 'failing' and r.failures > 10))
      limit ${mostAtOnce}`,
  )
  await forEachApart(
    rows,
    ({ run_id }) => deps.jobs.stop(run_id, 'its deployment no longer needs it'),
    (error, { run_id }) =>
      deps.logger.error({ err: error, run_id }, 'the job of a replica could not be stopped'),
  )
}
