import { type Static, Type } from 'typebox'
import {
  estimate,
  gateResult,
  phases,
  queueReasons,
  resolved,
  warning,
} from '../schemas/jobs/jobs.ts'
import { type JobSpec, jobSpec } from '../schemas/jobs/jobspec.ts'
import { nullable, oneOf, timestamp } from '../schemas/shared.ts'
import { type EventOf, event } from './event.ts'
import { jobMarked, jobNoted, jobPriorityChanged, jobRenamed, jobTagged } from './job-changes.ts'
import { subject } from './job-subject.ts'
import { because } from './words.ts'

const attempt = () => Type.Integer({ minimum: 1 })

/**
 * A job passed all gates. `spec` has every default filled in, and `"***"` instead of values of `env` whose names
 * look like secrets. `profile`, `series` and `gpus` (sum over all nodes) are resolved from the spec.
 */
export const jobAdmitted = event(
  'job.admitted',
  Type.Object({
    ...subject,
    name: Type.String(),
    team: nullable(Type.String()),
    kind: Type.String(),
    tags: Type.Array(Type.String()),
    notes: Type.String(),
    recipe: Type.Object({ name: Type.String(), version: Type.String(), digest: Type.String() }),
    profile: Type.String(),
    series: Type.String(),
    gpus: Type.Integer({ minimum: 0 }),
    nodes: Type.Integer({ minimum: 1 }),
    priority: Type.Integer(),
    preemptible: Type.Boolean(),
    max_attempts: Type.Integer({ minimum: 1 }),
    price_per_gpu_hour: Type.String(),
    currency: Type.String(),
    spec: jobSpec,
    spec_digest: Type.String(),
    /** Parameters that the recipe adds to `spec`, e.g. its defaults; see `paramsOf`. */
    params_added: Type.Record(Type.String(), Type.Unknown()),
    gates: Type.Array(gateResult),
    warnings: Type.Array(warning),
    estimate: nullable(estimate),
    resolved,
  }),
  ({ short_id, name, recipe, gpus, series }, who) =>
    `${who} submitted job ${short_id} (${name}): ${recipe.name} ${recipe.version} on ${gpus} × ${series}`,
  // Version 1 held the parameters twice, in `spec` and merged with the defaults.
  ({ params, ...data }) => ({
    ...data,
    params_added: paramsAdded(
      (data.spec as JobSpec).spec.params,
      params as Record<string, unknown>,
    ),
  }),
  // Before version 3 `checkpoints.keep` was filled in for everybody, and nothing applied it.
  data => ({ ...data, spec: keepingAll(data.spec as JobSpec) }),
)

function keepingAll({ spec, ...rest }: JobSpec): JobSpec {
  return { ...rest, spec: { ...spec, checkpoints: { ...spec.checkpoints, keep: null } } }
}

/** The merged parameters that are missing from the submitted ones, or differ. */
export const paramsAdded = (
  submitted: Record<string, unknown>,
  merged: Record<string, unknown>,
): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(merged).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(submitted[name]),
    ),
  )

/** The job's parameters merged over the recipe's defaults. */
export const paramsOf = ({
  spec,
  params_added,
}: Pick<JobAdmitted, 'spec' | 'params_added'>): Record<string, unknown> => ({
  ...spec.spec.params,
  ...params_added,
})

/** The job waits for something other than capacity, until `until` if known. */
export const jobHeld = event(
  'job.held',
  Type.Object({
    ...subject,
    reason: oneOf('approval', 'not_before'),
    until: nullable(timestamp()),
  }),
  ({ short_id, reason, until }, who) =>
    `${who} held job ${short_id} back (${reason})${until === null ? '' : ` until ${until}`}`,
)

/**
 * The job is queued, for this reason at first; it starts no earlier than `not_before`, if set. Events from before the
 * reason became a column also record a changed reason of a queued job.
 */
export const jobQueued = event(
  'job.queued',
  Type.Object({ ...subject, reason: oneOf(...queueReasons), not_before: nullable(timestamp()) }),
  ({ short_id, reason }, who) => `${who} queued job ${short_id} (${reason})`,
)

/** An attempt got its GPUs and its share of the quota; the executor starts it next. */
export const jobScheduled = event(
  'job.scheduled',
  Type.Object({
    ...subject,
    attempt: attempt(),
    executor: Type.String(),
    nodes: Type.Array(Type.String()),
    /** Only for executors that bind the GPUs of their single node themselves; otherwise empty. */
    gpu_indexes: Type.Array(Type.Integer({ minimum: 0 })),
  }),
  ({ short_id, attempt, executor, nodes }, who) =>
    `${who} scheduled attempt ${attempt} of job ${short_id} on ${executor} (${nodes.join(', ')})`,
)

/** Follows `job.scheduled`: this attempt continues from a checkpoint of an earlier one. */
export const jobCheckpointChosen = event(
  'job.checkpoint_chosen',
  Type.Object({
    ...subject,
    attempt: attempt(),
    artifact_id: Type.String(),
    path: Type.String(),
    step: nullable(Type.Integer()),
  }),
  ({ short_id, attempt, artifact_id, step }, who) =>
    `${who} continued job ${short_id} with attempt ${attempt} from ${artifact_id}${step === null ? '' : ` (step ${step})`}`,
)

/** Where one rank of an attempt runs; `gpu_indexes` are those of its node. */
const nodeOfRank = Type.Object({
  node: Type.String(),
  rank: Type.Integer({ minimum: 0 }),
  gpu_indexes: Type.Array(Type.Integer({ minimum: 0 })),
})
export type NodeOfRank = Static<typeof nodeOfRank>

/** The engine reported where the ranks of an attempt run, because it differs from `job.scheduled`. */
export const jobPlaced = event(
  'job.placed',
  Type.Object({
    ...subject,
    attempt: attempt(),
    /** By rank. */
    nodes: Type.Array(nodeOfRank),
  }),
  ({ short_id, attempt, nodes }, who) =>
    `${who} runs attempt ${attempt} of job ${short_id} on ${nodes.map(({ node }) => node).join(', ')}`,
)

/**
 * The executor runs the attempt (its own mark, earlier than the billing start), or the code reported a phase of
 * its start. The first such event of an attempt records when the executor began.
 */
export const jobStarting = event(
  'job.starting',
  Type.Object({
    ...subject,
    attempt: attempt(),
    phase: nullable(oneOf(...phases)),
    executor_running_at: timestamp(),
  }),
  ({ short_id, attempt, phase }, who) =>
    `${who} reported that attempt ${attempt} of job ${short_id} is starting${phase === null ? '' : ` (${phase})`}`,
)

/** The code is about to hand control to the training entrypoint: the billing start of the attempt. */
export const jobRunning = event(
  'job.running',
  Type.Object({ ...subject, attempt: attempt(), started_at: timestamp() }),
  ({ short_id, attempt }, who) =>
    `${who} reported that attempt ${attempt} of job ${short_id} is running`,
)

/** The reason that a person gave, or the limit that was reached. */
const message = () => nullable(Type.String())

/** The attempt must write a checkpoint and end; it is killed at the deadline. The newest request counts. */
export const jobPauseRequested = event(
  'job.pause_requested',
  Type.Object({ ...subject, attempt: attempt(), message: message(), deadline: timestamp() }),
  ({ short_id, message, deadline }, who) =>
    `${who} asked job ${short_id} to pause by ${deadline}${because(message)}`,
)

/** Nothing of the job runs and nothing is held for it; it can be resumed. `attempt` 0: it never ran. */
export const jobPaused = event(
  'job.paused',
  Type.Object({ ...subject, attempt: Type.Integer({ minimum: 0 }), message: message() }),
  ({ short_id, message }, who) => `${who} paused job ${short_id}${because(message)}`,
)

/** The job goes back to its old place in the queue (`job.queued` follows); the next attempt continues it. */
export const jobResumed = event(
  'job.resumed',
  Type.Object({ ...subject, message: message() }),
  ({ short_id, message }, who) => `${who} resumed job ${short_id}${because(message)}`,
)

/** The price of the job's profile changed: a GPU hour costs this from `effective_at` on, overriding the admission. */
export const jobRepriced = event(
  'job.repriced',
  Type.Object({ ...subject, price_per_gpu_hour: Type.String(), effective_at: timestamp() }),
  ({ short_id, price_per_gpu_hour, effective_at }, who) =>
    `${who} set the price of job ${short_id} to ${price_per_gpu_hour} per GPU hour from ${effective_at} on`,
)

/** The attempt lost its GPUs to another job; `job.queued` follows. */
export const jobPreempted = event(
  'job.preempted',
  Type.Object({ ...subject, attempt: attempt() }),
  ({ short_id, attempt }, who) =>
    `${who} took the GPUs of attempt ${attempt} of job ${short_id} for another job`,
)

/** The machine that runs the attempt has been silent since `silent_since`; the attempt may still be running. */
export const jobUnreachable = event(
  'job.unreachable',
  Type.Object({ ...subject, attempt: attempt(), silent_since: timestamp() }),
  ({ short_id, attempt, silent_since }, who) =>
    `${who} lost contact with attempt ${attempt} of job ${short_id}: its machine has been silent since ${silent_since}`,
)

/** The machine that runs the attempt has reported again. */
export const jobRecovered = event(
  'job.recovered',
  Type.Object({ ...subject, attempt: attempt() }),
  ({ short_id, attempt }, who) =>
    `${who} regained contact with attempt ${attempt} of job ${short_id}`,
)

/** The attempt failed and its spec allows another one, no earlier than `not_before`; `job.queued` follows. */
export const jobRetried = event(
  'job.retried',
  Type.Object({
    ...subject,
    /** The attempt that failed. */
    attempt: attempt(),
    reason: oneOf('node_failure', 'preemption'),
    not_before: timestamp(),
  }),
  ({ short_id, attempt, reason }, who) =>
    `${who} scheduled a retry of job ${short_id} after attempt ${attempt} (${reason})`,
)

/** The attempt must end; it is killed at the deadline. The newest request counts. */
export const jobStopRequested = event(
  'job.stop_requested',
  Type.Object({
    ...subject,
    attempt: attempt(),
    reason: oneOf('user', 'limit'),
    message: message(),
    force: Type.Boolean(),
    deadline: timestamp(),
  }),
  ({ short_id, reason, message, force }, who) =>
    `${who} asked to ${force ? 'kill' : 'stop'} job ${short_id} (${reason})${because(message)}`,
)

/**
 * How an attempt ended; `ended_at` is the last moment at which it is known to have run, if its end was not observed.
 */
const exit = Type.Object({
  /** Null if a signal ended it, or if its end was not observed. */
  exit_code: nullable(Type.Integer()),
  signal: nullable(Type.String()),
  oom_killed: Type.Boolean(),
  /** Why it never ran (missing program, no permission), or why its end is unknown. */
  launch_error: nullable(Type.String()),
  ended_at: timestamp(),
})
/** The one form of an exit, from the engine that saw it to the event that records it. */
export type Exit = Static<typeof exit> & {
  /** Why it was ended for the disk space that it occupied, which becomes the message of the job's end; absent if it was not. */
  disk_limit?: string
}

/**
 * Nothing of the attempt is running, whatever the state of the job. `gpu_seconds` are counted from the billing start
 * to the end: 0 for an attempt that never reported `running`.
 */
export const jobExited = event(
  'job.exited',
  Type.Object({
    ...subject,
    attempt: attempt(),
    ...exit.properties,
    gpu_seconds: Type.Number({ minimum: 0 }),
  }),
  ({ short_id, attempt, ...exit }, who) =>
    `${who} recorded the end of attempt ${attempt} of job ${short_id}: ${exitText(exit)}`,
)

/**
 * Why a job ended. `reported`: its code reported the end; `exit_code`: concluded from how its process ended; the next
 * four: it could no longer succeed; `user`, `limit`: it was stopped; `refused`: its approval was rejected or expired.
 */
export const endReasons = [
  'reported',
  'exit_code',
  'oom_killed',
  'disk_limit',
  'launch_error',
  'node_failure',
  'max_pending',
  'user',
  'limit',
  'refused',
] as const

/** Final. Each of these states is entered only by the event of the same name. */
const end = {
  ...subject,
  /** 0 for a job that never ran. */
  attempt: Type.Integer({ minimum: 0 }),
  reason: oneOf(...endReasons),
  message: message(),
  /** Exit code of the last attempt, if already known; `job.exited` always has it. */
  exit_code: nullable(Type.Integer()),
  ended_at: timestamp(),
}

export const jobSucceeded = event('job.succeeded', Type.Object(end), toldAs('succeeded'))
export const jobFailed = event('job.failed', Type.Object(end), toldAs('failed'))
export const jobStopped = event('job.stopped', Type.Object(end), toldAs('stopped'))

function toldAs(state: string) {
  type End = { short_id: string; reason: string; message: string | null }
  return ({ short_id, reason, message }: End, who: string): string =>
    `${who} ended job ${short_id}: ${state} (${reason})${because(message)}`
}

function exitText({ exit_code, signal, oom_killed, launch_error }: Exit): string {
  if (launch_error !== null) return launch_error
  if (oom_killed) return 'killed for lack of memory'
  return signal === null ? `exit code ${exit_code ?? 'unknown'}` : `signal ${signal}`
}

export const jobEvents = [
  jobAdmitted,
  jobHeld,
  jobQueued,
  jobScheduled,
  jobCheckpointChosen,
  jobPlaced,
  jobStarting,
  jobRunning,
  jobRepriced,
  jobPauseRequested,
  jobPaused,
  jobResumed,
  jobPreempted,
  jobUnreachable,
  jobRecovered,
  jobRetried,
  jobStopRequested,
  jobExited,
  jobSucceeded,
  jobFailed,
  jobStopped,
  jobPriorityChanged,
  jobRenamed,
  jobTagged,
  jobNoted,
  jobMarked,
] as const
export type JobEvent = EventOf<(typeof jobEvents)[number]>
export type JobAdmitted = Static<typeof jobAdmitted.data>
