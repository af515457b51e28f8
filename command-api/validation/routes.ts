import { type Route, route } from '../../auth/route.ts'
import { logPosition } from '../../platform/position.ts'
import { Invalid } from '../../schemas/validate.ts'
import {
  maxValidationBytes,
  type ValidationInput,
  validationInput,
  validationReply,
} from '../../schemas/validation.ts'
import { answerPosition, stampOf } from '../commit/asked.ts'
import type { Deps } from '../deps.ts'
import { refuseOtherTotal } from './decide.ts'
import { type Chunk, recordValidation } from './record.ts'
import { noteChunk, openRound } from './rounds.ts'

export const validationRoutes = (deps: Deps): Route[] => [
  route({
    method: 'POST',
    path: '/api/ingest/validation',
    credential: 'ingest',
    tag: 'ingest',
    summary: 'Report a chunk of a validation round',
    body: validationInput,
    bodyLimitBytes: maxValidationBytes,
    keysMayRepeat: true,
    response: validationReply,
    refusals: ['forbidden', 'conflict', 'too_large'],
    async handle(request) {
      await deps.reports.admit(request)
      const chunk = chunkOf(request.body)
      const { run_id, step, chunk_index, total_chunks } = chunk
      refuseOtherTotal(chunk, await openRound(deps, chunk))
      const stamp = stampOf(request, deps.now())
      const fact = recordValidation(chunk)
      const position = await deps.appendFact(deps.topics.validation.name, stamp, fact)
      const { avg_reward = null, accuracy = null } = chunk
      const round = { run_id, step, total_chunks, avg_reward, accuracy }
      const received_chunks = await noteChunk(deps, request, round, chunk_index)
      answerPosition(request, logPosition(position))
      return {
        ok: true,
        step,
        inserted: chunk.samples.length,
        received_chunks,
        total_chunks,
        complete: received_chunks === total_chunks,
      }
    },
  }),
]

function chunkOf(body: ValidationInput): Chunk {
  const { chunk_index = 0, total_chunks = 1 } = body
  if (chunk_index < total_chunks) return { ...body, chunk_index, total_chunks }
  throw new Invalid([
    {
      loc: ['body', 'chunk_index'],
      msg: `Input should be less than or equal to ${total_chunks - 1}, because total_chunks is ${total_chunks}`,
      type: 'less_than_equal',
      input: chunk_index,
      ctx: { le: total_chunks - 1 },
    },
  ])
}
