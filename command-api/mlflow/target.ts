import type { Person, RunCaller } from '../../auth/caller.ts'
import type { Hparams, HparamsEvent, Scalar } from '../../events/hparams.ts'
import type { MlflowRun } from '../../events/mlflow.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { ArtifactInput } from '../../schemas/artifacts/artifacts.ts'
import type { MetricsInput } from '../../schemas/metrics/metrics.ts'
import {
  artifactUri,
  type MlflowRunInfo,
  type MlflowStatus,
  noteTag,
  runNameTag,
} from '../../schemas/mlflow.ts'
import {
  type LifecycleReport,
  type RunChange,
  type RunInput,
  runChange,
} from '../../schemas/runs/runs.ts'
import { exactly } from '../../schemas/validate.ts'
import type { Asked, HttpAsked } from '../commit/asked.ts'
import type { Deps } from '../deps.ts'
import type { ReportingRun } from '../rules/admit-report.ts'
import { runToActOn } from '../rules/run-to-act-on.ts'

/** The commands of other slices to which MLflow's are translated. */
export type MlflowPorts = {
  appendMetrics(asked: Asked, report: MetricsInput): Promise<unknown>
  setHparams(
    hparams: Hparams,
    run_id: string,
    params: Readonly<Record<string, Scalar>>,
  ): HparamsEvent[]
  createRun(
    request: HttpAsked & { caller: Person; body: RunInput },
  ): Promise<{ run_id: string; short_id: string; project: string }>
  reportRun(report: LifecycleReport, run: ReportingRun, asked: Asked): Promise<unknown>
  /** Notes that the code of a job is at work, if nothing has said so yet. */
  beginJob(run_id: string, asked: Asked): Promise<unknown>
  describeRun(
    asked: Asked,
    run: { run_id: string; source: 'job' | 'external' },
    change: RunChange,
  ): Promise<unknown>
  announce(request: HttpAsked, announced: Announced, run_id: string): Promise<{ upload_id: string }>
  complete(
    request: HttpAsked,
    of: { run_id: string; upload_id: string },
  ): Promise<{ path: string; size_bytes: number; sha256: string }>
  registerArtifact(asked: Asked, artifact: ArtifactInput): Promise<unknown>
}
type Announced = {
  filename: string
  size_bytes: number
  content_type: string
  sha256: string | null
}

export type MlflowRequest = Omit<HttpAsked, 'caller'> & { caller: Person | RunCaller }

/**
 * Admits a report as `/api/ingest` does. People may report to their own runs, as if with an ingest token, which only the
 * owner of a run can get. MLflow's clients do not say that training has begun: the first report of a job's code does.
 */
export async function admit(
  deps: Deps,
  ports: MlflowPorts,
  request: MlflowRequest,
  run_id: string,
) {
  const { caller, ctx } = request
  if (caller.kind === 'run') {
    const run = await deps.reports.admit({ caller, body: { run_id }, ctx })
    if (run.source === 'job') await ports.beginJob(caller.runId, request)
    return { run, run_id: caller.runId }
  }
  const asked = { asked: run_id, caller, action: 'issue_token', noun: 'run' } as const
  const { run_id: runId } = await runToActOn(deps.pool, asked)
  const asRun = { kind: 'run', runId, tokenId: '' } as const
  return {
    run: await deps.reports.admit({ caller: asRun, body: { run_id: runId }, ctx }),
    run_id: runId,
  }
}

export type MlflowTag = { key: string; value: string }

/** MLflow's names of a run and of its notes become those of the run. */
export async function describeByTags(
  { describeRun }: MlflowPorts,
  asked: Asked,
  run: { run_id: string; source: 'job' | 'external' },
  tags: readonly MlflowTag[],
): Promise<void> {
  const description = descriptionIn(tags)
  if (Object.keys(description).length > 0) await describeRun(asked, run, description)
}

/** The name and the notes of a run, each only if Forge accepts it. */
export function descriptionIn(tags: readonly MlflowTag[]): Pick<RunChange, 'name' | 'notes'> {
  const lastOf = (tag: string) => tags.findLast(({ key }) => key === tag)?.value
  const [name, notes] = [lastOf(runNameTag)?.trim(), lastOf(noteTag)]
  return {
    ...(name !== undefined && faultOf({ name }) === null && { name }),
    ...(notes !== undefined && faultOf({ notes }) === null && { notes }),
  }
}

const faultOf = exactly(runChange)

type Known = { short_id: string; owner: string; project: string; created_at: Date }

/** The write side's knowledge of what MLflow calls the head of a run. */
export async function infoOf(deps: Deps, run_id: string, run: MlflowRun): Promise<MlflowRunInfo> {
  const { rows } = await deps.pool.query<Known>(
    `select coalesce(name, id) as short_id, owner, project from write.resource where kind = 'run' and id = $1`,
    [run_id],
  )
  const [known] = rows
  if (!known) throw new Refusal('not_found', `No such run: ${run_id}`)
  const { end_time_ms } = run
  return {
    run_id,
    run_uuid: run_id,
    run_name: run.tags[runNameTag] || known.short_id,
    experiment_id: known.project,
    user_id: known.owner,
    status: (run.status ?? 'RUNNING') as MlflowStatus,
    ...(end_time_ms !== null && { end_time: end_time_ms }),
    artifact_uri: artifactUri(run_id),
    lifecycle_stage: 'active',
  }
}

export const pairs = (values: Readonly<Record<string, string>>) =>
  Object.entries(values).map(([key, value]) => ({ key, value }))
