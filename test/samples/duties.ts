import { randomUUID } from 'node:crypto'
import { withoutOwner } from './missing-id.ts'
import type { Sample } from './sample.ts'

/** A parked duty of a reactor that no process knows, so that no process touches it. */
export const dutySample: Sample = {
  slice: 'duties',
  async make({ pool, owner }) {
    const duty_id = randomUUID()
    await pool.query(
      `insert into write.duty (duty_id, reactor, cause, request_id, payload, created_at, due_at, attempts, last_error, parked_at)
       values ($1, 'sample', $2, 'req_sample', '{}', now(), now(), 8, 'refused', now())`,
      [duty_id, `user-${owner.username}`],
    )
    return { nouns: { duties: { duty_id } } }
  },
  missing: ({ nouns }) => ({ nouns: { duties: { duty_id: withoutOwner(nouns.duties?.duty_id) } } }),
}
