import { bounded, dutyIdOf } from '../commit/new-duty.ts'
import { type Change, rows } from './outcome.ts'

/** The same duty once more, later. Its id derives from the parent's, so recording the outcome again inserts nothing. */
export const again = (parent: string, afterMs: number): Change =>
  rows((tx, now) =>
    tx.query(
      `insert into write.duty (duty_id, reactor, cause, event_id, request_id, payload, created_at, due_at)
       select $2, reactor, cause, event_id, request_id, payload, $3, $4 from write.duty where duty_id = $1
       on conflict do nothing`,
      [parent, dutyIdOf(parent, 'again', 0), now, new Date(now.getTime() + afterMs)],
    ),
  )

/**
 * Further duties of the same reactor, caused by the same event and due at once, for work that is too much for one
 * duty. Their ids derive from the parent's, so recording the outcome again inserts nothing.
 */
export const further = (parent: string, reactor: string, payloads: readonly object[]): Change =>
  rows((tx, now) =>
    tx.query(
      `insert into write.duty (duty_id, reactor, cause, event_id, request_id, payload, created_at, due_at)
       select child.duty_id, d.reactor, d.cause, d.event_id, d.request_id, child.payload, $4, $4
         from write.duty d, unnest($2::uuid[], $3::jsonb[]) as child(duty_id, payload)
        where d.duty_id = $1
       on conflict do nothing`,
      [
        parent,
        payloads.map((_, index) => dutyIdOf(parent, reactor, index)),
        payloads.map(payload => JSON.stringify(bounded(payload, reactor))),
        now,
      ],
    ),
  )
