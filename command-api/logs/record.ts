import { encodeFact, type Fact } from '../../events/fact.ts'
import { encodeLogs } from '../../events/logs.ts'
import type { LogsInput } from '../../schemas/logs.ts'

/** The server's data about a report. */
export type Receipt = Pick<Fact, 'event_id' | 'received_at_ms' | 'actor' | 'request_id'>

/** Encodes a validated report as the value of its log record. */
export function recordLogs(body: LogsInput, receipt: Receipt): Buffer {
  return encodeFact({
    ...receipt,
    type: 'logs.appended',
    run_id: body.run_id,
    attempt: body.attempt ?? null,
    body: encodeLogs({
      origin: 'report',
      node: body.node ?? null,
      rank: body.rank ?? null,
      stream: body.stream ?? 'stdout',
      producer: body.producer ?? '',
      seq: body.seq ?? null,
      chunks: body.chunks,
    }),
  })
}
