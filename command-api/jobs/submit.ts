import type { Person } from '../../auth/caller.ts'
import { type Job, jobAt } from '../../events/job-state.ts'
import { type JobEvent, paramsAdded } from '../../events/jobs.ts'
import { digestOf } from '../../platform/digest.ts'
import type { AdmissionResult, GateResult, QueueView } from '../../schemas/jobs.ts'
import { currency } from '../../schemas/profiles.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import type { HttpAsked } from '../asked.ts'
import { type CommitDeps, create, type Decided, fresh } from '../commit.ts'
import type { Deps } from '../deps.ts'
import type { Transaction } from '../event-store.ts'
import { nextShortId, type ShortIdDeps } from '../short-id.ts'
import { type AdmissionFacts, requestOf } from './admission/facts.ts'
import { estimateOf, warningsOf, withoutSecrets } from './admission/warnings.ts'
import { admit, type Hold } from './decide.ts'
import { place } from './queue-place.ts'

export type Submission = {
  facts: AdmissionFacts
  gates: GateResult[]
}

export type SubmitDeps = CommitDeps & ShortIdDeps & Pick<Deps, 'newId'>

/** Creates an admitted job in one transaction. */
export async function createJob(
  deps: SubmitDeps,
  request: HttpAsked & { caller: Person },
  submission: Submission,
): Promise<AdmissionResult> {
  const { facts } = submission
  const { project } = facts.spec.metadata
  const run_id = deps.newId('run')
  const target = fresh(jobAt(run_id))
  const { caller } = request
  const shortId = await nextShortId(deps, { project, caller })
  return create(deps, request, target, {
    locks: shortId.locks,
    async make(work) {
      const short_id = await shortId.take(work)
      const admitted = admittedOf(submission, { run_id, short_id, owner: caller.username })
      const { state, events } = await work.decide(target, {
        decide: job => admit(job, admitted, holdOf(facts, work.now)),
        alongside: (tx, decided) => insertRows(tx, facts, admitted, decided),
      })
      const queue = state.state === 'queued' ? await place(work.tx, run_id) : null
      return resultOf(admitted, { events, queue, now: work.now })
    },
  })
}

type Admitted = Extract<JobEvent, { type: 'job.admitted' }>['data']

function admittedOf(
  { facts, gates }: Submission,
  ids: { run_id: string; short_id: string; owner: string },
): Admitted {
  const { recipe, profile, params, resolved, spec } = facts
  if (!recipe || !profile || !params) throw new Error('a job passed its gates without a recipe')
  const { nodes, gpus, series } = requestOf(facts)
  const { project, name, team, tags, notes } = spec.metadata
  const { scheduling, retry } = spec.spec
  const { name: recipeName, version, digest } = recipe
  return {
    ...ids,
    project,
    name,
    team,
    kind: spec.kind,
    tags,
    notes,
    recipe: { name: recipeName, version, digest },
    profile: profile.name,
    series,
    gpus,
    nodes,
    priority: scheduling.priority,
    preemptible: scheduling.preemptible,
    max_attempts: retry.max_attempts,
    price_per_gpu_hour: profile.price_per_gpu_hour,
    currency,
    spec: withoutSecrets(spec),
    spec_digest: digestOf(spec),
    params_added: paramsAdded(spec.spec.params, params.value),
    gates,
    warnings: warningsOf(facts),
    estimate: estimateOf(facts),
    resolved,
  }
}

function holdOf({ spec }: AdmissionFacts, now: Date): Hold | null {
  const until = spec.spec.scheduling.not_before
  if (until === null || Date.parse(until) <= now.getTime()) return null
  return { reason: 'not_before', until: new Date(until).toISOString() }
}

async function insertRows(
  tx: Transaction,
  facts: AdmissionFacts,
  admitted: Admitted,
  { state: job, now }: Decided<Job, JobEvent>,
): Promise<void> {
  const { run_id, short_id, owner, project, priority, profile, series, gpus, nodes } = admitted
  const { max_pending_s } = facts.spec.spec.limits
  const pending_until =
    max_pending_s === null ? null : new Date(now.getTime() + max_pending_s * 1000)
  await tx.query({
    name: 'insert_job',
    text: `with run as (
             insert into write.run_state (run_id, short_id, owner, project, source, last_report_at)
             values ($1, $2, $3, $4, 'job', $9) returning run_id)
           insert into write.job_state (run_id, short_id, owner, project, priority, profile, series, gpus, admitted_at,
                                        executor, env, pending_until, state, queue_reason, not_before, nodes, priced_at)
           select run_id, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $17,
                  -- The change that led to the price read at admission; a later one is still to be applied.
                  coalesce((select max(effective_at) from write.profile_rate
                             where profile = $6 and price_per_gpu_hour = $16), '-infinity') from run`,
    values: [
      run_id,
      short_id,
      owner,
      project,
      priority,
      profile,
      series,
      gpus,
      now,
      facts.profile?.executor,
      facts.spec.spec.env,
      pending_until,
      job.state,
      job.queue_reason,
      job.not_before,
      admitted.price_per_gpu_hour,
      nodes,
    ],
  })
}

type Outcome = { events: readonly JobEvent[]; queue: QueueView | null; now: Date }

function resultOf(admitted: Admitted, { events, queue, now }: Outcome): AdmissionResult {
  const { run_id, short_id, project, spec, spec_digest, gates, warnings } = admitted
  const last = events.at(-1)
  const isHeld = last?.type === 'job.held'
  return {
    run_id,
    job_id: run_id,
    short_id,
    project,
    state: isHeld ? 'held' : 'queued',
    state_reason: isHeld ? last.data.reason : (queue?.reason ?? null),
    dialect: spec.api,
    spec_digest,
    admission: { admitted_at: toTimestamp(now), gates, warnings },
    queue,
    estimate: admitted.estimate,
    resolved: admitted.resolved,
    urls: {
      console: `/runs/${run_id}`,
      logs: `/api/jobs/${run_id}/logs/stream`,
      metrics: `/api/runs/${run_id}/metrics/stream`,
    },
  }
}
