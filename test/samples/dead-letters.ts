import { randomInt } from 'node:crypto'
import type { Pool } from 'pg'
import { recordMetrics } from '../../command-api/metrics/record.ts'
import { encodedFact } from '../encoded-fact.ts'
import { withoutOwner } from './missing-id.ts'
import type { Sample } from './sample.ts'

/** A parked report without points, which can be applied. */
async function parkedLetter(pool: Pool, key: string): Promise<string> {
  const { fact } = recordMetrics({ run_id: key, points: [] }, 0)
  const offset = 1_000_000_000 + randomInt(1_000_000_000)
  await pool.query(
    `insert into read.dead_letter (topic, partition, "offset", key, error, value)
     values ('forge.metrics', 1, $1, $2, 'out of range', $3)`,
    [offset, key, encodedFact(fact)],
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
