import { recordValidation } from '../../command-api/validation/record.ts'
import type { LogRecord } from '../../platform/log/event-log.ts'
import type { SampleInput } from '../../schemas/validation.ts'
import { encodedFact } from '../encoded-fact.ts'

type Given = {
  step: number
  chunk_index?: number
  total_chunks?: number
  avg_reward?: number | null
  samples?: SampleInput[]
  receivedMs?: number
}

/** A chunk of a validation round, as one record of the log. */
export const chunkOf = (
  run_id: string,
  { chunk_index = 0, total_chunks = 1, samples = [], receivedMs = 0, ...round }: Given,
): LogRecord => ({
  key: run_id,
  value: encodedFact(
    recordValidation({ run_id, chunk_index, total_chunks, samples, ...round }),
    receivedMs,
  ),
})
