import type { Submitter } from '../../auth/caller.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { AdmissionResult } from '../../schemas/jobs.ts'
import { dialect, type JobSpec, jobSpec } from '../../schemas/jobspec.ts'
import { type RecipeLock, serveKind } from '../../schemas/recipes.ts'
import { maxArgsBytes, type ReplicaServing } from '../../schemas/replicas.ts'
import { checker } from '../../schemas/validate.ts'
import type { Submits } from './submit.ts'

/** A process that is to serve a revision. */
export type Replica = {
  /** A submit with the same id returns the same job, for a day. */
  replica_id: string
  /** The owner of the deployment, whose quota counts. */
  owner: { username: string; role: 'admin' | 'operator' }
  project: string
  /** Of its job. */
  name: string
  labels?: Record<string, string>
  /** That of the serving template (`lockOf`). */
  lock: RecipeLock
  params: Record<string, unknown>
  /** The model. */
  artifact_id: string
  /** Null: that of this machine. */
  profile: string | null
  /** Null: as many as the template needs at least. */
  gpus: number | null
  /** Of its job, -100 to 100. */
  priority: number
  serving: ReplicaServing
}

/** How long an engine may take to end after it was asked to. */
const stopGraceSeconds = 30

/** Submits the job that a replica is; refused by the gates as any job. */
export const submitReplica =
  (submits: Pick<Submits, 'submit'>) =>
  async (replica: Replica): Promise<AdmissionResult> => {
    const { serving } = replica
    const bytes = serving.args.reduce((sum, word) => sum + Buffer.byteLength(word), 0)
    if (bytes > maxArgsBytes)
      throw new Refusal('invalid', `serving.args has ${bytes} bytes; ${maxArgsBytes} are allowed`)
    return submits.submit(askedFor(replica), specOf(replica), { serving })
  }

const checkSpec = checker(jobSpec, 'body')

function specOf(replica: Replica): JobSpec {
  const { name, project, labels = {}, lock, params, artifact_id, priority } = replica
  const checked = checkSpec({
    api: dialect,
    kind: serveKind,
    metadata: { name, project, labels },
    lock,
    spec: {
      params,
      init_from: { artifact_id },
      resources: { profile: replica.profile, gpus_per_node: replica.gpus },
      scheduling: { priority, preemptible: false },
      limits: { stop_grace_s: stopGraceSeconds },
    },
  })
  if (checked.ok) return checked.value
  const faults = checked.errors.map(({ loc, msg }) => `${loc.slice(1).join('.')}: ${msg}`)
  throw new Refusal('invalid', `The replica cannot be a job: ${faults.join('; ')}`)
}

/** As if its owner had sent it, with the id of the replica as the key that makes it happen once. */
function askedFor({ replica_id, owner }: Replica) {
  const caller: Submitter = { kind: 'person', via: 'deployment', ...owner }
  const get = (name: string) => (name === 'idempotency-key' ? replica_id : '')
  const ctx = { method: 'POST', path: 'replicas', get, set: () => {} }
  return { caller, requestId: replica_id, ctx }
}
