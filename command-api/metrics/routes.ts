import { type Route, route } from '../../auth/route.ts'
import { logPosition } from '../../platform/position.ts'
import { type MetricBlock, metricBlockType, parseMetricBlock } from '../../schemas/metrics/block.ts'
import {
  isPlainMetricsInput,
  type MetricsInput,
  metricsInput,
  metricsReply,
} from '../../schemas/metrics/metrics.ts'
import { type Asked, answerPosition, stampOf } from '../commit/asked.ts'
import type { Deps } from '../deps.ts'
import { manyKeys, maxKeys } from './key-limit.ts'
import { recordMetrics } from './record.ts'

export const metricRoutes = (deps: Deps): Route[] => [
  route({
    method: 'POST',
    path: '/api/ingest/metrics',
    credential: 'ingest',
    tag: 'ingest',
    summary: 'Report metric points',
    body: metricsInput,
    bodyLimitBytes: 5_000_000,
    flatBody: true,
    keysMayRepeat: true,
    isPlain: isPlainMetricsInput,
    binaryBody: { mediaType: metricBlockType, parse: parseMetricBlock },
    response: metricsReply,
    refusals: ['forbidden', 'conflict'],
    async handle(request) {
      await deps.reports.admit(request)
      const body = request.body as MetricsInput | MetricBlock
      const { inserted, total } = await appendMetrics(deps, request, body)
      return total > manyKeys
        ? { ok: true, inserted, warnings: [tooManySoon(total)] }
        : { ok: true, inserted }
    },
  }),
]

/** Appends the points of an admitted report; `total` is roughly how many keys the run then has. */
export async function appendMetrics(
  deps: Deps,
  asked: Asked,
  report: MetricsInput | MetricBlock,
): Promise<{ inserted: number; total: number }> {
  const stamp = stampOf(asked, deps.now())
  const { fact, inserted, keys } = recordMetrics(report, stamp.now.getTime())
  const total = await deps.metricKeys.admit(report.run_id, keys)
  const position = await deps.appendFact(deps.topics.metrics.name, stamp, fact)
  deps.ingestedPoints(inserted)
  answerPosition(asked, logPosition(position))
  return { inserted, total }
}

const tooManySoon = (total: number) => ({
  code: 'metrics.many_keys',
  detail: `The run has ${total} distinct metric keys, which makes it slow to read; more than ${maxKeys} are refused`,
})
