import type { Person, RunCaller } from '../../auth/caller.ts'
import { type MlflowRun, mlflowAt } from '../../events/mlflow.ts'
import { Refusal } from '../../platform/refusal.ts'
import { type MlflowRunInput, type MlflowStatus, runNameTag } from '../../schemas/mlflow.ts'
import { isProjectName } from '../../schemas/runs/runs.ts'
import type { HttpAsked } from '../commit/asked.ts'
import { commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import type { ReportingRun } from '../rules/admit-report.ts'
import { reportStatus, setTags } from './decide.ts'
import {
  admit,
  describeByTags,
  descriptionIn,
  infoOf,
  type MlflowPorts,
  type MlflowRequest,
  type MlflowTag,
  pairs,
} from './target.ts'

type Create = MlflowRequest & { body: MlflowRunInput }

/** With an ingest token nothing is created: whatever run the code begins, it continues its own. */
export async function createRun(deps: Deps, ports: MlflowPorts, request: Create) {
  const { caller, body } = request
  const { run_name, tags = [] } = body
  const named = run_name ? [...tags, { key: runNameTag, value: run_name }] : tags
  const run_id =
    caller.kind === 'run'
      ? await continueOwnRun(deps, ports, { ...request, caller }, named)
      : await startExternalRun(ports, { ...request, caller }, named)
  const { state } = await commit(deps, request, mlflowAt(run_id), {
    decide: run => [
      ...setTags(run, run_id, named),
      ...reportStatus(run, run_id, { status: 'RUNNING', end_time_ms: null }),
    ],
  })
  const info = await infoOf(deps, run_id, state)
  return { run: { info, data: { metrics: [], params: [], tags: pairs(state.tags) }, inputs: {} } }
}

async function continueOwnRun(
  deps: Deps,
  ports: MlflowPorts,
  request: MlflowRequest & { caller: RunCaller },
  tags: readonly MlflowTag[],
): Promise<string> {
  const { run_id, run } = await admit(deps, ports, request, request.caller.runId)
  await describeByTags(ports, request, { run_id, source: run.source }, tags)
  return run_id
}

async function startExternalRun(
  ports: MlflowPorts,
  request: HttpAsked & { caller: Person; body: MlflowRunInput },
  tags: readonly MlflowTag[],
): Promise<string> {
  const { experiment_id: project } = request.body
  // '0' is the experiment of clients without a configured one.
  if (project === '0' || !isProjectName(project))
    throw new Refusal(
      'invalid',
      `No project is named ${project}; call mlflow.set_experiment('<project>') first, or set MLFLOW_EXPERIMENT_NAME`,
    )
  const { run_id } = await ports.createRun({
    ...request,
    body: { project, ...descriptionIn(tags) },
  })
  await ports.reportRun({ run_id, event: 'running' }, newRun, request)
  return run_id
}

const newRun: ReportingRun = { short_id: null, source: 'external', control: 'none', ended_at: null }

export type Update = {
  run_id: string
  status?: MlflowStatus
  end_time?: number | string
  run_name?: string
}

/**
 * Records the client's status. A process sends it before it ends, so it ends neither a job nor a run that has an ingest token;
 * it does end a run that a person tracks, because nobody else knows when that ends.
 */
export async function updateRun(
  deps: Deps,
  ports: MlflowPorts,
  request: MlflowRequest & { body: Update },
) {
  const { status, end_time, run_name } = request.body
  const named = run_name ? [{ key: runNameTag, value: run_name }] : []
  const { run_id, run } = await admit(deps, ports, request, request.body.run_id)
  const { state } = await commit(deps, request, mlflowAt(run_id), {
    decide: current => [
      ...setTags(current, run_id, named),
      ...(status ? reportStatus(current, run_id, { status, end_time_ms: endOf(end_time) }) : []),
    ],
  })
  await describeByTags(ports, request, { run_id, source: run.source }, named)
  if (request.caller.kind === 'person' && run.source === 'external' && run.ended_at === null)
    await endTracked(ports, request, { run, run_id, state })
  return { run_info: await infoOf(deps, run_id, state) }
}

const endOf = (end_time: number | string | undefined): number | null => {
  const ms = Number(end_time ?? 0)
  return ms > 0 && Number.isSafeInteger(ms) ? ms : null
}

type Tracked = { run: ReportingRun; run_id: string; state: MlflowRun }

async function endTracked(
  ports: MlflowPorts,
  request: HttpAsked,
  { run, run_id, state: { status } }: Tracked,
): Promise<void> {
  if (status === 'FINISHED') await ports.reportRun({ run_id, event: 'succeeded' }, run, request)
  if (status === 'FAILED' || status === 'KILLED')
    await ports.reportRun(
      { run_id, event: 'failed', message: `The MLflow client reported ${status}` },
      run,
      request,
    )
}
