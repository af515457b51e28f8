import { randomInt } from 'node:crypto'
import type { Pool } from 'pg'
import { recordMetrics } from '../../command-api/metrics/record.ts'
import { withoutOwner } from './missing-id.ts'
import type { Sample } from './sample.ts'

/** A parked report without points, which can be applied. */
async function parkedLetter(pool: Pool, key: string): Promise<string> {
  const { value } = recordMetrics(
    { run_id: key, points: [] },
    {
      event_id: '0199e2c4-5b7a-7c11-8c2e-3f1a5b6c7d8e',
      received_at_ms: 0,
      actor: { type: 'run', id: key, via: 'ingest_token' },
      request_id: 'req-sample',
    },
  )
  const offset = 1_000_000_000 + randomInt(1_000_000_000)
  await pool.query(
    `insert into read.dead_letter (topic, partition, "offset", key, error, value)
     values ('forge.metrics', 1, $1, $2, 'out of range', $3)`,
    [offset, key, value],
  )
  return `forge.metrics:1:${offset}`
}

export const deadLetterSample: Sample = {
  slice: 'dead-letters',
  make: async ({ pool, owner }) => ({
    nouns: { 'dead-letters': { letter_id: await parkedLetter(pool, `run_${owner.username}`) } },
  }),
  missing: ({ nouns }) => ({
    nouns: { 'dead-letters': { letter_id: withoutOwner(nouns['dead-letters']?.letter_id) } },
  }),
  changes: {
    'DELETE /api/admin/dead-letters/{letter_id}': {
      // The other one is gone after its replay.
      path: async ({ pool }) =>
        `/api/admin/dead-letters/${await parkedLetter(pool, 'run_dropped')}`,
    },
  },
}
