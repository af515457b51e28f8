import { jobAt } from '../../events/job-state.ts'
import { type JobAdmitted, type JobEvent, paramsOf } from '../../events/jobs.ts'
import { Refusal } from '../../platform/refusal.ts'
import { storedName } from '../../schemas/artifacts/artifacts.ts'
import { isInStore } from '../../schemas/artifacts/in-store.ts'
import type { ReplicaServing } from '../../schemas/deployments/replicas.ts'
import { hubVariables, reportingTo } from '../../schemas/runs/runs.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { benchmarksToRun } from '../rules/benchmark-reference.ts'
import { type DatasetOfJob, resolveDataset } from '../rules/dataset-reference.ts'
import { roleOf } from '../rules/enabled-person.ts'
import { environmentsToRun } from '../rules/environments-to-run.ts'
import { modelToRun } from '../rules/imported-models.ts'
import { endIngestTokens, issueIngestToken } from '../rules/ingest-tokens.ts'
import { openSecrets } from '../rules/secret-values.ts'
import { volumesToRun } from '../rules/volumes.ts'
import { openEnv, type StoredEnv } from './sealed-env.ts'

/** The order to launch an attempt, with a new ingest token; earlier tokens of the run become invalid. */
export async function readOrder(
  deps: Pick<Deps, 'store' | 'now' | 'baseUrl' | 'sealing'>,
  tx: Transaction,
  { run_id, attempt }: { run_id: string; attempt: number },
) {
  const { rows } = await tx.query(
    `select fencing_token, env, sealed_env, serving, coalesce((select array_agg(gpu_index order by gpu_index)
              from write.gpu_slot s where s.run_id = j.run_id), '{}') as gpu_indexes
       from write.job_state j where run_id = $1 and attempt = $2 and is_active`,
    [run_id, attempt],
  )
  const row = rows[0]
  const { events } = await deps.store.load<JobEvent>(jobAt(run_id).stream, tx)
  const admitted = events.find(event => event.type === 'job.admitted')
  if (!row || !admitted) throw new Error(`attempt ${attempt} of ${run_id} is not to be launched`)
  const chosen = events.flatMap(event =>
    event.type === 'job.checkpoint_chosen' && event.data.attempt === attempt ? event.data : [],
  )[0]
  const datasets = await readableDatasets(tx, admitted.data)
  const environments = await environmentsToRun(tx, admitted.data)
  const model = await modelToRun(tx, admitted.data, 'model')
  const adapter = await modelToRun(tx, admitted.data, 'adapter')
  const volumes = await volumesToRun(tx, admitted.data)
  const { nodes, owner, recipe, resolved, spec } = admitted.data
  const env = {
    ...(await openEnv(row as StoredEnv, run_id, deps.sealing)),
    ...(await openSecrets(tx, deps.sealing, owner, spec.spec.secrets)),
  }
  const now = deps.now()
  await endIngestTokens(tx, run_id, now)
  const { token } = await issueIngestToken(tx, { run_id, now })
  const { own, mlflow } = reportingTo(deps.baseUrl(), { run_id, token })
  return {
    run_id,
    attempt,
    fencing_token: Number(row.fencing_token),
    nodes,
    gpu_indexes: row.gpu_indexes as number[],
    recipe,
    params: paramsOf(admitted.data),
    package: packageOf(spec),
    init_from: resolved.init_from && { ...resolved.init_from, load: loadOf(spec) },
    resume_from: chosen?.path ?? null,
    stored: await storedStarts(tx, {
      FORGE_INIT_FROM: resolved.init_from?.artifact_id,
      FORGE_RESUME_FROM: chosen?.artifact_id,
    }),
    benchmarks: await benchmarksToRun(deps.store, spec.spec.benchmarks, tx),
    datasets,
    environments,
    ...{ model, adapter },
    volumes,
    checkpoint_every_steps: spec.spec.checkpoints.every_steps,
    disk_bytes: bytesOfGigabytes(spec.spec.resources.disk_gb),
    env,
    serving: row.serving as ReplicaServing | null,
    reporting: {
      ...own,
      // A job that names its own MLflow server reports there, and MLFLOW_RUN_ID means nothing to that server.
      ...(!('MLFLOW_TRACKING_URI' in env) && mlflow),
      // Engines load what their replica names.
      ...(row.serving === null && hubVariables(env, { baseUrl: deps.baseUrl(), token })),
    },
  }
}

const bytesOfGigabytes = (gigabytes: number | null) => (gigabytes === null ? null : gigabytes * 1e9)

type Stored = { artifact_id: string; path: string; sha256: string; size_bytes: number }
/** The unit of sizes, as file systems count. */
const maxNameBytes = 255

/** The stored artifacts that an attempt starts from, by variable. */
async function storedStarts(tx: Transaction, starts: Record<string, string | undefined>) {
  const { rows } = await tx.query<Stored>(
    `select artifact_id, path, sha256, size_bytes::float8 as size_bytes from write.artifact
      where artifact_id = any($1) and sha256 is not null and size_bytes is not null`,
    [Object.values(starts).filter(id => id !== undefined)],
  )
  return Object.entries(starts).flatMap(([variable, id]) => {
    const row = rows.find(({ artifact_id }) => artifact_id === id)
    if (!row || !isInStore(row.path)) return []
    return [{ variable, artifact: { ...row, filename: filenameOf(row) } }]
  })
}

function filenameOf({ artifact_id, path }: Stored): string {
  const name = storedName(path)
  return name === null || Buffer.byteLength(name) > maxNameBytes ? artifact_id : name
}

type DatasetOfRun = Pick<DatasetOfJob, 'ref' | 'digest' | 'files'> & {
  as: string
  split: string | null
  weight: number
}

/**
 * The admitted versions of the datasets that the spec names. Asks again whether the owner of the job may use them, because a grant
 * may have been withdrawn while the job waited; the attempt then ends with this refusal.
 */
async function readableDatasets(
  tx: Transaction,
  { owner, spec, resolved }: JobAdmitted,
): Promise<DatasetOfRun[]> {
  const asked = spec.spec.datasets
  if (asked.length === 0) return []
  const caller = { username: owner, role: (await roleOf(tx, owner)) ?? 'operator' }
  const refs = [...new Set(asked.map(({ ref }) => ref))]
  const admittedAs = new Map(refs.map((ref, index) => [ref, resolved.datasets[index]?.ref ?? ref]))
  const readable: DatasetOfRun[] = []
  for (const { as, ref, split, weight } of asked) {
    const version = admittedAs.get(ref) ?? ref
    const dataset = await resolveDataset(tx, version, caller)
    if (dataset.is === 'forbidden')
      throw new Refusal('forbidden', `${owner} may no longer use the dataset ${dataset.dataset}`)
    if (dataset.is === 'missing')
      throw new Refusal(
        'not_found',
        `The dataset ${version} was deleted, or ${owner} may no longer see it`,
      )
    const { digest, files } = dataset
    readable.push({ as, ref: dataset.ref, digest, split, weight, files })
  }
  return readable
}

/** Artifacts list the ways to load them; the first applies. */
function loadOf({ spec }: JobAdmitted['spec']): string {
  const load = spec.init_from?.load ?? 'weights'
  return typeof load === 'string' ? load : (load[0] ?? 'weights')
}

/** Admission has filled in the digest (admission/package.ts). */
function packageOf({ spec }: JobAdmitted['spec']): { sha256: string } | null {
  const { kind, digest } = spec.source
  return kind === 'package' && digest !== null ? { sha256: digest.replace(/^sha256:/, '') } : null
}
