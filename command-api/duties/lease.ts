import type { Pool } from 'pg'
import type { Transaction } from '../commit/event-store.ts'
import type { Reactor } from '../effects/reactor.ts'

/** A duty that this process may perform until its lease ends. `lease` is a fencing token against earlier holders. */
export type Leased = {
  duty_id: string
  reactor: string
  event_id: string | null
  request_id: string
  payload: object
  attempts: number
  due_at: Date
  lease: number
}

type Leasing = Pick<Reactor<never>, 'deadlineMs' | 'renewMs'>
type Rooms = { reactor: Leasing & Pick<Reactor<never>, 'name'>; room: number }[]

/** Twice the deadline, so that an attempt that uses all of it still has time to be closed; less if it is renewed. */
const leaseMs = ({ deadlineMs, renewMs }: Leasing) =>
  renewMs === null ? 2 * deadlineMs : 3 * renewMs

/**
 * Leases due duties, oldest first, for each reactor at most as many as it has room for. Skips duties that another
 * process holds until their lease ends.
 */
export async function leaseDue(pool: Pool, rooms: Rooms, now: Date): Promise<Leased[]> {
  const { rows } = await pool.query<Leased>({
    name: 'duties_lease',
    text: `with room as (
             select * from unnest($1::text[], $2::int[], $3::float8[]) as room(reactor, room, lease_ms)),
           taken as materialized (
             select due.duty_id, room.lease_ms
               from room cross join lateral (
                 select d.duty_id from write.duty d
                  where d.reactor = room.reactor and d.done_at is null and d.parked_at is null
                    and d.due_at <= $4 and (d.leased_until is null or d.leased_until <= $4)
                  order by d.due_at, d.duty_id limit room.room for update skip locked) due)
           update write.duty d
              set lease = d.lease + 1, attempts = d.attempts + 1,
                  leased_until = $4::timestamptz + taken.lease_ms * interval '1 millisecond'
             from taken where d.duty_id = taken.duty_id
        returning d.duty_id, d.reactor, d.event_id, d.request_id, d.payload, d.attempts, d.due_at, d.lease`,
    values: [
      rooms.map(({ reactor }) => reactor.name),
      rooms.map(({ room }) => room),
      rooms.map(({ reactor }) => leaseMs(reactor)),
      now,
    ],
  })
  return rows.sort((a, b) => a.due_at.getTime() - b.due_at.getTime())
}

type Held = Pick<Leased, 'duty_id' | 'lease'>

/** True if the lease was still current; otherwise another process has the duty and nothing changes. */
export const closeDuty = async (tx: Pool | Transaction, held: Held, now: Date): Promise<boolean> =>
  (await closeDuties(tx, [held], now)).has(held.duty_id)

/** Returns the ids of the duties whose lease was still current. */
async function closeDuties(
  tx: Pool | Transaction,
  held: readonly Held[],
  now: Date,
): Promise<ReadonlySet<string>> {
  const { rows } = await tx.query<{ duty_id: string }>({
    name: 'duties_close',
    text: `update write.duty d set done_at = $3, leased_until = null, last_error = null
             from unnest($1::uuid[], $2::int[]) as held(duty_id, lease)
            where d.duty_id = held.duty_id and d.lease = held.lease and d.done_at is null and d.parked_at is null
        returning d.duty_id`,
    values: [held.map(({ duty_id }) => duty_id), held.map(({ lease }) => lease), now],
  })
  return new Set(rows.map(row => row.duty_id))
}

type Closing = {
  held: Held
  resolve: (isClosed: boolean) => void
  reject: (error: unknown) => void
}

/** Closes duties without an outcome; duties that end while a statement is in flight share the next one. */
export function joinedClosing(pool: Pool, now: () => Date): (held: Held) => Promise<boolean> {
  let waiting: Closing[] = []
  let isFlushing = false
  const flush = async () => {
    while (waiting.length > 0) {
      const closings = waiting
      waiting = []
      try {
        const closed = await closeDuties(
          pool,
          closings.map(({ held }) => held),
          now(),
        )
        for (const { held, resolve } of closings) resolve(closed.has(held.duty_id))
      } catch (error) {
        for (const { reject } of closings) reject(error)
      }
    }
    isFlushing = false
  }
  return held =>
    new Promise((resolve, reject) => {
      waiting.push({ held, resolve, reject })
      // Deferred, so that duties that end in the same turn share one statement.
      if (!isFlushing) setImmediate(flush)
      isFlushing = true
    })
}

/** No-op if the lease was lost. */
export async function renewLease(
  pool: Pool,
  { duty_id, lease }: Held,
  { reactor, now }: { reactor: Leasing; now: Date },
): Promise<void> {
  await pool.query({
    name: 'duty_renew',
    text: `update write.duty set leased_until = $3
            where duty_id = $1 and lease = $2 and done_at is null and parked_at is null`,
    values: [duty_id, lease, new Date(now.getTime() + leaseMs(reactor))],
  })
}

export type Failure = { error: string; dueAt: Date } | { error: string; parkedAt: Date }

/** Postpones or parks a duty; false if another process has leased it meanwhile. */
export async function failDuty(
  db: Pool | Transaction,
  { duty_id, lease }: Held,
  failure: Failure,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'duty_fail',
    text: `update write.duty
              set leased_until = null, last_error = $3, due_at = coalesce($4, due_at), parked_at = $5
            where duty_id = $1 and lease = $2 and done_at is null and parked_at is null`,
    values: [
      duty_id,
      lease,
      failure.error,
      'dueAt' in failure ? failure.dueAt : null,
      'parkedAt' in failure ? failure.parkedAt : null,
    ],
  })
  return rowCount === 1
}

/** Returns a duty as if it had not been leased; a stopping process does not count as a failed attempt. */
export async function releaseDuty(pool: Pool, { duty_id, lease }: Held): Promise<void> {
  await pool.query({
    name: 'duty_release',
    text: `update write.duty set leased_until = null, attempts = greatest(attempts - 1, 0)
            where duty_id = $1 and lease = $2 and done_at is null and parked_at is null`,
    values: [duty_id, lease],
  })
}
