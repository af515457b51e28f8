import { type Route, route } from '../../auth/route.ts'
import { logPosition } from '../../platform/position.ts'
import { hardwareInput, hardwareReply, maxHardwareBodyBytes } from '../../schemas/hardware.ts'
import { answerPosition, stampOf } from '../commit/asked.ts'
import type { Deps } from '../deps.ts'
import { createCallMeter } from './call-meter.ts'
import { recordHardware } from './record.ts'

export const hardwareRoutes = (deps: Deps): Route[] => {
  const meter = createCallMeter()
  return [
    route({
      method: 'POST',
      path: '/api/ingest/hardware',
      credential: 'ingest',
      tag: 'ingest',
      summary: 'Report samples of GPUs and machines',
      body: hardwareInput,
      bodyLimitBytes: maxHardwareBodyBytes,
      keysMayRepeat: true,
      response: hardwareReply,
      refusals: ['forbidden', 'conflict', 'too_large', 'rate_limited'],
      async handle(request) {
        const { body } = request
        const run = await deps.reports.admit(request)
        const stamp = stampOf(request, deps.now())
        meter.count(body.run_id, new Set(body.points.map(({ node }) => node ?? '')), stamp.now)
        const { fact, inserted } = recordHardware(body)
        if (inserted > 0) {
          const position = await deps.appendFact(deps.topics.hardware.name, stamp, fact)
          answerPosition(request, logPosition(position))
        }
        const control = { action: run.control, reason: null, deadline: null }
        return { ok: true, inserted, control }
      },
    }),
  ]
}
