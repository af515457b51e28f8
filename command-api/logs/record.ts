import type { UnstampedFact } from '../../events/fact.ts'
import { encodeLogs } from '../../events/logs.ts'
import type { LogsInput } from '../../schemas/logs.ts'

/** Encodes a validated report as a fact. */
export function recordLogs(body: LogsInput): UnstampedFact {
  return {
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
  }
}
