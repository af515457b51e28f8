import type { SealingKeys } from '../../auth/sealing-keys.ts'
import type { Range } from '../../events/calculations/queue-forecast.ts'
import type { Newcomer } from '../../events/calculations/queue-picture.ts'
import type { Job } from '../../events/job-state.ts'
import { type JobAdmitted, type JobEvent, paramsAdded } from '../../events/jobs.ts'
import { digestOf } from '../../platform/digest.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { AdmissionResult, GateResult, QueueView } from '../../schemas/jobs/jobs.ts'
import { cloneLabel, retryLabel } from '../../schemas/jobs/jobspec.ts'
import { currency } from '../../schemas/profiles.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import type { Decided } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import { awaitImports } from '../rules/imported-models.ts'
import { holdTeam } from '../rules/teams.ts'
import { holdVolumes } from '../rules/volumes.ts'
import { rulesFor } from './admission/approval.ts'
import { estimateOf } from './admission/estimate.ts'
import { type AdmissionFacts, requestOf } from './admission/facts.ts'
import { warningsOf, withoutSecrets } from './admission/warnings.ts'
import type { Hold } from './decide.ts'
import { sealEnv } from './sealed-env.ts'

/** A job that has passed all gates. */
export type Submission = {
  facts: AdmissionFacts
  gates: GateResult[]
}

export function admittedOf(
  { facts, gates }: Submission,
  ids: { run_id: string; short_id: string; owner: string },
): JobAdmitted {
  const { recipe, profile, params, resolved, spec } = facts
  if (!recipe || !profile || !params) throw new Error('a job passed its gates without a recipe')
  const { nodes, gpus, series } = requestOf(facts)
  const { project, name, tags, notes } = spec.metadata
  const { scheduling, retry } = spec.spec
  const { name: recipeName, version, digest } = recipe
  return {
    ...ids,
    project,
    name,
    team: facts.team?.name ?? null,
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

export function holdOf(facts: AdmissionFacts, now: Date): Hold | null {
  return rulesFor(facts).length > 0 ? { reason: 'approval', until: null } : timeHold(facts, now)
}

/** An approved job may still have to wait for its time. */
export function timeHold({ spec }: Pick<AdmissionFacts, 'spec'>, now: Date): Hold | null {
  const until = spec.spec.scheduling.not_before
  if (until === null || Date.parse(until) <= now.getTime()) return null
  return { reason: 'not_before', until: new Date(until).toISOString() }
}

export type NewJob = Pick<Decided<Job, JobEvent>, 'state' | 'events' | 'now'> & {
  facts: AdmissionFacts
  admitted: JobAdmitted
  /** The estimate of its wait from the queue alone. */
  foretold: Range | null
}

/** Inserts the rows of new jobs, which other rules and the executor use. */
export async function insertJobs(
  tx: Transaction,
  jobs: readonly NewJob[],
  sealing: SealingKeys,
): Promise<void> {
  const { rowCount } = await tx.query({
    name: 'insert_jobs',
    text: `with given as (
             select * from jsonb_to_recordset($1) as job (
               run_id text, short_id text, owner text, project text, priority int, profile text, series text, gpus int, nodes int,
               price numeric, admitted_at timestamptz, executor text, env jsonb, sealed_env text, pending_until timestamptz, state text,
               queue_reason text, not_before timestamptz, recipe text, upload_id text, foretold_p50_s int, foretold_p90_s int,
               init_from text, retry_of text, clone_of text, serving jsonb, team text)),
           run as (
             insert into write.run_state (run_id, short_id, owner, project, source, last_report_at)
             select run_id, short_id, owner, project, 'job', admitted_at from given),
           used as (
             update write.upload u set used_at = given.admitted_at
               from given where u.upload_id = given.upload_id returning u.upload_id)
           insert into write.job_state (run_id, short_id, owner, project, priority, profile, series, gpus, admitted_at,
                                        executor, env, sealed_env, pending_until, state, queue_reason, not_before, nodes, recipe, upload_id,
                                        foretold_p50_s, foretold_p90_s, init_from, retry_of, clone_of, serving, team, priced_at)
           select run_id, short_id, owner, project, priority, profile, series, gpus, admitted_at, executor, env, sealed_env,
                  pending_until, state, queue_reason, not_before, nodes, recipe, upload_id, foretold_p50_s, foretold_p90_s,
                  init_from, retry_of, clone_of, serving, team,
                  -- The change that led to the price read at admission; a later one is still to be applied.
                  coalesce((select max(effective_at) from write.profile_rate r
                             where r.profile = given.profile and r.price_per_gpu_hour = given.price
                               and r.effective_at <= given.admitted_at), '-infinity')
             from given where (upload_id is null or upload_id in (select upload_id from used))
                          -- Its deletion waits for this transaction and then finds the job, or came first.
                          and (init_from is null or exists (
                                select from write.resource r
                                 where r.kind = 'artifact' and r.id = given.init_from and r.deleted_at is null for share))`,
    values: [JSON.stringify(jobs.map(job => rowOfJob(job, sealing)))],
  })
  const all = jobs.map(({ admitted }) => admitted)
  await awaitImports(tx, all)
  await holdVolumes(tx, all)
  for (const team of new Set(all.flatMap(one => one.team ?? []))) await holdTeam(tx, team)
  // It was deleted after the gates saw it.
  if (rowCount !== jobs.length) throw new Refusal('conflict', whatWasDeleted(jobs))
}

function whatWasDeleted(jobs: readonly NewJob[]): string {
  const begins = jobs.some(({ admitted }) => admitted.resolved.init_from !== null)
  const isPackage = jobs.some(({ facts }) => facts.spec.spec.source.kind === 'package')
  const packageGone = 'The package has just been deleted; upload it again'
  const artifactGone =
    'The artifact that the job starts from has just been deleted; choose another one'
  if (!begins) return packageGone
  return isPackage ? `${packageGone}. Or: ${artifactGone}` : artifactGone
}

function rowOfJob({ facts, admitted, foretold, state: job, now }: NewJob, sealing: SealingKeys) {
  const { run_id, short_id, owner, project, priority, profile, series, gpus, nodes } = admitted
  const { env, limits, source } = facts.spec.spec
  return {
    ...{ run_id, short_id, owner, project, priority, profile, series, gpus, nodes },
    ...sealEnv(env, run_id, sealing),
    price: admitted.price_per_gpu_hour,
    admitted_at: now,
    executor: facts.profile?.executor,
    pending_until:
      limits.max_pending_s === null ? null : new Date(now.getTime() + limits.max_pending_s * 1000),
    state: job.state,
    queue_reason: job.queue_reason,
    not_before: job.not_before,
    recipe: admitted.recipe.name,
    upload_id: source.kind === 'package' ? source.upload_id : null,
    init_from: admitted.resolved.init_from?.artifact_id,
    serving: facts.serving,
    team: admitted.team,
    retry_of: facts.spec.metadata.labels[retryLabel],
    clone_of: facts.spec.metadata.labels[cloneLabel],
    // A held job waits for its time, too.
    foretold_p50_s: job.state === 'queued' ? foretold?.p50 : null,
    foretold_p90_s: job.state === 'queued' ? foretold?.p90 : null,
  }
}

/** The job from the queue's point of view. */
export function newcomerOf(facts: AdmissionFacts): Newcomer {
  const { caller, profile, recipe, spec } = facts
  return {
    ...requestOf(facts),
    owner: caller.username,
    priority: spec.spec.scheduling.priority,
    executor: profile?.executor ?? '',
    profile: profile?.name ?? '',
    recipe: recipe?.name ?? null,
  }
}

/** `place`: the place in the queue if nothing holds the job. */
export function resultOf(
  { admitted, events, now }: Omit<NewJob, 'foretold'>,
  place: QueueView | null,
): AdmissionResult {
  const { run_id, short_id, project, spec, spec_digest, gates, warnings } = admitted
  const last = events.at(-1)
  const isHeld = last?.type === 'job.held'
  const queue = isHeld ? null : place
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
