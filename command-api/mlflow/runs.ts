import type { Person } from '../../auth/caller.ts'
import { type MlflowRun, mlflowAt } from '../../events/mlflow.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { MlflowRunInput, MlflowStatus } from '../../schemas/mlflow.ts'
import { isProjectName } from '../../schemas/runs/runs.ts'
import type { HttpAsked } from '../commit/asked.ts'
import { commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import type { ReportingRun } from '../rules/admit-report.ts'
import { reportStatus, setTags } from './decide.ts'
import {
  admit,
  describeByTags,
  infoOf,
  type MlflowPorts,
  type MlflowRequest,
  pairs,
  runNameTag,
} from './target.ts'

type Create = MlflowRequest & { body: MlflowRunInput }

/** With an ingest token nothing is created: whatever run the code begins, it continues its own. */
export async function createRun(deps: Deps, ports: MlflowPorts, request: Create) {
  const { caller, body } = request
  const { run_name, tags = [] } = body
  const named = run_name ? [...tags, { key: runNameTag, value: run_name }] : tags
  const { run_id, source } =
    caller.kind === 'run'
      ? await admitted(deps, ports, request, caller.runId)
      : await startExternalRun(ports, { ...request, caller })
  const { state } = await commit(deps, request, mlflowAt(run_id), {
    decide: run => [
      ...setTags(run, run_id, named),
      ...reportStatus(run, run_id, { status: 'RUNNING', end_time_ms: null }),
    ],
  })
  await describeByTags(ports, request, { run_id, source }, named)
  const info = await infoOf(deps, run_id, state)
  return { run: { info, data: { metrics: [], params: [], tags: pairs(state.tags) }, inputs: {} } }
}

async function admitted(deps: Deps, ports: MlflowPorts, request: MlflowRequest, asked: string) {
  const { run_id, run } = await admit(deps, ports, request, asked)
  return { run_id, source: run.source }
}

async function startExternalRun(
  ports: MlflowPorts,
  request: HttpAsked & { caller: Person; body: MlflowRunInput },
): Promise<{ run_id: string; source: 'external' }> {
  const { experiment_id: project, run_name } = request.body
  // '0' is the experiment of clients without a configured one.
  if (project === '0' || !isProjectName(project))
    throw new Refusal(
      'invalid',
      `No project is named ${project}; call mlflow.set_experiment('<project>') first, or set MLFLOW_EXPERIMENT_NAME`,
    )
  const body = { project, ...(run_name && { name: run_name }) }
  const { run_id } = await ports.createRun({ ...request, body })
  await ports.reportRun({ run_id, event: 'running' }, newRun, request)
  return { run_id, source: 'external' }
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
  const { run_id, run } = await admit(deps, ports, request, request.body.run_id)
  const { state } = await commit(deps, request, mlflowAt(run_id), {
    decide: current => [
      ...(run_name ? setTags(current, run_id, [{ key: runNameTag, value: run_name }]) : []),
      ...(status ? reportStatus(current, run_id, { status, end_time_ms: endOf(end_time) }) : []),
    ],
  })
  if (run_name)
    await describeByTags(ports, request, { run_id, source: run.source }, [
      { key: runNameTag, value: run_name },
    ])
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
