import { recordValidation } from '../../command-api/validation/record.ts'
import type { LogRecord } from '../../platform/log/event-log.ts'
import type { SampleInput } from '../../schemas/validation.ts'

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
  value: recordValidation(
    { run_id, chunk_index, total_chunks, samples, ...round },
    {
      event_id: '01900000-0000-7000-8000-000000000000',
      received_at_ms: receivedMs,
      actor: { type: 'run', id: run_id, via: 'ingest_token' },
      request_id: 'r',
    },
  ),
})
