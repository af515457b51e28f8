import { type Route, route } from '../../auth/route.ts'
import { logPosition } from '../../platform/position.ts'
import { Refusal } from '../../platform/refusal.ts'
import { logsInput, logsReply, maxLineBytes, maxLogBodyBytes } from '../../schemas/logs.ts'
import { answerPosition, stampOf } from '../commit/asked.ts'
import type { Deps } from '../deps.ts'
import { createHourMeter } from './hour-meter.ts'
import { recordLogs } from './record.ts'

export const logRoutes = (deps: Deps): Route[] => {
  const meter = createHourMeter()
  return [
    route({
      method: 'POST',
      path: '/api/ingest/logs',
      credential: 'ingest',
      tag: 'ingest',
      summary: 'Report lines of output',
      body: logsInput,
      bodyLimitBytes: maxLogBodyBytes,
      flatBody: true,
      keysMayRepeat: true,
      response: logsReply,
      refusals: ['forbidden', 'conflict', 'too_large'],
      async handle(request) {
        const { body } = request
        const run = await deps.reports.admit(request)
        const bytes = refuseLongLines(body.chunks)
        const stamp = stampOf(request, deps.now())
        const control = { action: run.control, reason: null, deadline: null }
        if (meter.isOver(body.run_id, bytes, stamp.now))
          return { ok: true, accepted: 0, truncated: true, control }
        if (body.chunks.length > 0) {
          const position = await deps.appendFact(deps.topics.logs.name, stamp, recordLogs(body))
          answerPosition(request, logPosition(position))
        }
        return { ok: true, accepted: body.chunks.length, truncated: false, control }
      },
    }),
  ]
}

/** Returns the total bytes of all chunks. */
function refuseLongLines(chunks: readonly string[]): number {
  let bytes = 0
  chunks.forEach((chunk, index) => {
    const size = Buffer.byteLength(chunk)
    bytes += size
    if (size <= maxLineBytes) return
    for (const line of chunk.split('\n'))
      if (Buffer.byteLength(line) > maxLineBytes)
        throw new Refusal(
          'too_large',
          `chunks[${index}] has a line of ${Buffer.byteLength(line)} bytes; at most ${maxLineBytes} are accepted; shorten it`,
          { code: 'logs.line_too_long', data: { index, limit_bytes: maxLineBytes } },
        )
  })
  return bytes
}
