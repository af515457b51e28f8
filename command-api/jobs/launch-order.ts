import { jobAt } from '../../events/job-state.ts'
import { type JobAdmitted, type JobEvent, paramsOf } from '../../events/jobs.ts'
import { reportingTo } from '../../schemas/runs.ts'
import type { Deps } from '../deps.ts'
import type { Transaction } from '../event-store.ts'
import { endIngestTokens, issueIngestToken } from '../tokens.ts'

/** The order to launch an attempt, with a new ingest token; earlier tokens of the run end. */
export async function readOrder(
  deps: Pick<Deps, 'store' | 'now' | 'baseUrl'>,
  tx: Transaction,
  { run_id, attempt }: { run_id: string; attempt: number },
) {
  const { rows } = await tx.query(
    `select fencing_token, env, coalesce((select array_agg(gpu_index order by gpu_index)
              from write.gpu_slot s where s.run_id = j.run_id), '{}') as gpu_indexes
       from write.job_state j where run_id = $1 and attempt = $2 and is_active`,
    [run_id, attempt],
  )
  const row = rows[0]
  const { events } = await deps.store.load<JobEvent>(jobAt(run_id).stream, tx)
  const admitted = events.find(event => event.type === 'job.admitted')
  if (!row || !admitted) throw new Error(`attempt ${attempt} of ${run_id} is not to be launched`)
  const resume_from = events.flatMap(event =>
    event.type === 'job.checkpoint_chosen' && event.data.attempt === attempt ? event.data.path : [],
  )[0]
  const now = deps.now()
  await endIngestTokens(tx, run_id, now)
  const { token } = await issueIngestToken(tx, { run_id, now })
  const { nodes, recipe, resolved, spec } = admitted.data
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
    resume_from: resume_from ?? null,
    checkpoint_every_steps: spec.spec.checkpoints.every_steps,
    env: row.env as Record<string, string>,
    // A job that names an MLflow server of its own reports there, and MLFLOW_RUN_ID means nothing to that one.
    reporting: 'MLFLOW_TRACKING_URI' in row.env ? own : { ...own, ...mlflow },
  }
}

/** Artifacts list the ways to load them; the first one is used. */
function loadOf({ spec }: JobAdmitted['spec']): string {
  const load = spec.init_from?.load ?? 'weights'
  return typeof load === 'string' ? load : (load[0] ?? 'weights')
}

/** Admission has filled in the digest (admission/package.ts). */
function packageOf({ spec }: JobAdmitted['spec']): { sha256: string } | null {
  const { kind, digest } = spec.source
  return kind === 'package' && digest !== null ? { sha256: digest.replace(/^sha256:/, '') } : null
}
