import { hparamsAt } from '../../events/hparams.ts'
import { mlflowAt } from '../../events/mlflow.ts'
import { Refusal } from '../../platform/refusal.ts'
import { type MlflowMetric, mlflowLimits } from '../../schemas/mlflow.ts'
import { commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { newParams, setTags } from './decide.ts'
import { admit, describeByTags, type MlflowPorts, type MlflowRequest } from './target.ts'

type Pair = { key: string; value: string }
export type Batch = {
  metrics?: readonly MlflowMetric[]
  params?: readonly Pair[]
  tags?: readonly Pair[]
}

/** A client's reports about a run; parameters come first, because they may be refused. */
export async function report(
  deps: Deps,
  ports: MlflowPorts,
  request: MlflowRequest,
  { run_id: asked, metrics = [], params = [], tags = [] }: Batch & { run_id: string },
): Promise<object> {
  const total = metrics.length + params.length + tags.length
  if (total > mlflowLimits.inAll)
    throw new Refusal(
      'invalid',
      `A batch logging request can contain at most ${mlflowLimits.inAll} metrics, params, and tags. Got ${total}. Please split up metrics, params, and tags across requests and try again.`,
    )
  const points = metrics.map(toPoint)
  const { run_id, run } = await admit(deps, ports, request, asked)
  if (params.length > 0)
    await commit(deps, request, hparamsAt(run_id), {
      decide: hparams => ports.setHparams(hparams, run_id, newParams(hparams, run_id, params)),
    })
  if (tags.length > 0) {
    await commit(deps, request, mlflowAt(run_id), {
      decide: current => setTags(current, run_id, tags),
    })
    await describeByTags(ports, request, { run_id, source: run.source }, tags)
  }
  if (points.length > 0) await ports.appendMetrics(request, { run_id, points })
  return {}
}

const lastMs = Date.parse('9999-12-31T23:59:59Z')

function toPoint({ key, value, timestamp, step = 0 }: MlflowMetric) {
  const at = Number(step)
  if (!Number.isSafeInteger(at))
    throw new Refusal('invalid', `Got invalid value ${step} for the step of metric '${key}'`)
  const ms = timestamp === undefined ? null : Number(timestamp)
  if (ms !== null && !(ms >= 0 && ms <= lastMs))
    throw new Refusal(
      'invalid',
      `Got invalid timestamp ${timestamp} for metric '${key}'; milliseconds since 1970 are expected`,
    )
  return { key, value, step: at, ...(ms !== null && { ts: new Date(ms).toISOString() }) }
}
