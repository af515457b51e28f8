import type { Submitter } from '../../auth/caller.ts'
import { jobAt } from '../../events/job-state.ts'
import { Refusal } from '../../platform/refusal.ts'
import { maxArgsBytes, type Replica } from '../../schemas/deployments/replicas.ts'
import { type AdmissionResult, isEnded } from '../../schemas/jobs/jobs.ts'
import { dialect, type JobSpec, jobSpec } from '../../schemas/jobs/jobspec.ts'
import { serveKind } from '../../schemas/recipes.ts'
import { checker } from '../../schemas/validate.ts'
import { type CommitDeps, commit } from '../commit/commit.ts'
import { stop } from './decide.ts'
import { saveJob } from './rows.ts'
import type { Submits } from './submit.ts'

/** How long an engine may take to end after it was asked to, in seconds. */
const stopGraceSeconds = 30

/** Submits the job of a replica; the gates may refuse it like any other. */
export const submitReplica =
  (submits: Pick<Submits, 'submit'>) =>
  async (replica: Replica): Promise<AdmissionResult> => {
    const { serving } = replica
    const bytes = serving.args.reduce((sum, word) => sum + Buffer.byteLength(word), 0)
    if (bytes > maxArgsBytes)
      throw new Refusal('invalid', `serving.args has ${bytes} bytes; ${maxArgsBytes} are allowed`)
    return submits.submit(askedFor(replica), specOf(replica), { serving })
  }

const cause = {
  actor: { type: 'system', id: 'serving-keeper', via: 'timer' },
  requestId: 'serving-keeper',
} as const

/** Asks the engine of a replica to end; `message` says why. May be repeated, also once the job has ended. */
export const stopReplica =
  (deps: CommitDeps) =>
  async (run_id: string, message: string): Promise<void> => {
    await commit(deps, cause, jobAt(run_id), {
      decide: (job, now) =>
        job.state === null || isEnded(job.state)
          ? []
          : stop(job, { message, graceSeconds: null, force: false, now }),
      alongside: saveJob,
    })
  }

const checkSpec = checker(jobSpec, 'body')

function specOf(replica: Replica): JobSpec {
  const {
    name,
    project,
    team = null,
    labels = {},
    lock,
    params,
    artifact_id,
    hub_ref,
    priority,
  } = replica
  const checked = checkSpec({
    api: dialect,
    kind: serveKind,
    metadata: { name, project, team, labels },
    lock,
    spec: {
      params,
      ...(artifact_id !== null && { init_from: { artifact_id } }),
      ...(hub_ref !== null && { model: { ref: hub_ref } }),
      resources: { profile: replica.profile, gpus_per_node: replica.gpus },
      scheduling: { priority, preemptible: false },
      limits: { stop_grace_s: stopGraceSeconds },
    },
  })
  if (checked.ok) return checked.value
  const faults = checked.errors.map(({ loc, msg }) => `${loc.slice(1).join('.')}: ${msg}`)
  throw new Refusal('invalid', `The replica cannot be a job: ${faults.join('; ')}`)
}

/** A request as if its owner had sent it; the id of the replica is the idempotency key. */
function askedFor({ replica_id, owner }: Replica) {
  const caller: Submitter = { kind: 'person', via: 'deployment', ...owner }
  const get = (name: string) => (name === 'idempotency-key' ? replica_id : '')
  const ctx = { method: 'POST', path: 'replicas', get, set: () => {} }
  return { caller, requestId: replica_id, ctx }
}
