import { encodeFact } from '../../events/fact.ts'
import { encodeLogs } from '../../events/logs.ts'
import type { LogRecord } from '../../platform/log/event-log.ts'
import { startMs } from '../metrics/given.ts'

type Lines = { seq: number; producer: string; chunks: string[] }

/** Lines of a run's output, as one record of the log. */
export const logLines = (run_id: string, { seq, producer, chunks }: Lines): LogRecord => ({
  key: run_id,
  value: encodeFact({
    type: 'logs.appended',
    event_id: '01900000-0000-7000-8000-000000000000',
    received_at_ms: startMs + seq,
    run_id,
    attempt: 1,
    actor: { type: 'run', id: run_id, via: 'ingest_token' },
    request_id: 'r',
    body: encodeLogs({
      ...{ origin: 'report', node: null, rank: 0, stream: 'stdout' },
      ...{ producer, seq, chunks },
    }),
  }),
})
