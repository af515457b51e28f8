import { type Route, route } from '../../auth/route.ts'
import { logPosition } from '../../platform/position.ts'
import { type MetricBlock, metricBlockType, parseMetricBlock } from '../../schemas/metric-block.ts'
import {
  isPlainMetricsInput,
  type MetricsInput,
  metricsInput,
  metricsReply,
} from '../../schemas/metrics.ts'
import { answerPosition, stampOf } from '../asked.ts'
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
    isPlain: isPlainMetricsInput,
    binaryBody: { mediaType: metricBlockType, parse: parseMetricBlock },
    response: metricsReply,
    refusals: ['forbidden', 'conflict'],
    async handle(request) {
      await deps.reports.admit(request)
      const { actor, now, requestId } = stampOf(request, deps.now())
      const { value, inserted, keys } = recordMetrics(request.body as MetricsInput | MetricBlock, {
        event_id: deps.newEventId(),
        received_at_ms: now.getTime(),
        actor,
        request_id: requestId,
      })
      const total = await deps.metricKeys.admit(request.body.run_id, keys)
      const position = await deps.appendFact(deps.topics.metrics.name, request.body.run_id, value)
      deps.ingestedPoints(inserted)
      answerPosition(request, logPosition(position))
      return total > manyKeys
        ? { ok: true, inserted, warnings: [tooManySoon(total)] }
        : { ok: true, inserted }
    },
  }),
]

const tooManySoon = (total: number) => ({
  code: 'metrics.many_keys',
  detail: `The run has ${total} distinct metric keys, which makes it slow to read; more than ${maxKeys} are refused`,
})
