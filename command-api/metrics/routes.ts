import { type Route, route } from '../../auth/route.ts'
import { logPosition } from '../../platform/position.ts'
import { isPlainMetricsInput, metricsInput, metricsReply } from '../../schemas/metrics.ts'
import { answerPosition, stampOf } from '../asked.ts'
import type { Deps } from '../deps.ts'
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
    response: metricsReply,
    refusals: ['forbidden', 'conflict'],
    async handle(request) {
      await deps.reports.admit(request)
      const { actor, now, requestId } = stampOf(request, deps.now())
      const { value, inserted } = recordMetrics(request.body, {
        event_id: deps.newEventId(),
        received_at_ms: now.getTime(),
        actor,
        request_id: requestId,
      })
      const position = await deps.appendFact(deps.topics.metrics.name, request.body.run_id, value)
      deps.ingestedPoints(inserted)
      answerPosition(deps, request, logPosition(position))
      return { ok: true, inserted }
    },
  }),
]
