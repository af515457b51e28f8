import type { DecisionEvent } from '../../events/all.ts'
import type { Event, Recorded } from '../../events/event.ts'
import { bounded, type DutiesOf, dutyIdOf, type NewDuty } from '../commit/new-duty.ts'
import { nothing, type Outcome } from './outcome.ts'

/** Work caused by an event; due at once if `due_at` is absent. */
export type Duty<P extends object> = { payload: P; due_at?: Date }

/** A duty as `perform` gets it. */
export type LeasedDuty<P extends object = object> = {
  /** The same at every attempt: send it to the receiver as the idempotency key. */
  duty_id: string
  payload: P
  /** 1 at the first attempt. */
  attempt: number
  due_at: Date
}

/**
 * Why a second `perform` of the same duty is harmless. `by key`: the receiver gets `duty_id` and drops repeats;
 * `ask first`: `perform` checks whether the work is already done; `local`: only our own rows change, by the outcome.
 */
export type Repeat = 'by key' | 'ask first' | 'local'

/** Performs one kind of duty; `D`: its dependencies. See docs/contribute/effects.md. */
export type ReactorOf<P extends object, D> = {
  /** Never change it: it is stored with each duty. */
  name: string
  repeat: Repeat
  /** Pure. Called for every appended event, so it must check the type first. Absent: no duties from events. */
  dutiesOf?: (event: Recorded<DecisionEvent>) => readonly Duty<P>[]
  /** Also creates one duty per slot; slots are multiples of `seconds` since 1970. Absent: no schedule. */
  every?: { seconds: number; payload: (slot: Date) => P } | null
  /**
   * Runs outside any transaction and may run again for the same duty. Throws if it must be retried, or
   * `PermanentFailure` if a retry is pointless. Gives up when `signal` aborts.
   */
  perform: (duty: LeasedDuty<P>, deps: D, signal: AbortSignal) => Promise<Outcome>
  /**
   * What to record when the duty is given up: parked after its last attempt, or dropped by an administrator. Whatever it was to end
   * must not look as if it were under way. Absent: nothing.
   */
  givenUp?: (duty: LeasedDuty<P>, deps: D) => Promise<Outcome>
  /** The duty is parked after this many failed attempts; default 8. */
  attempts?: number
  /** Time limit of one attempt in milliseconds; default 30,000. A lease lasts twice as long. */
  deadlineMs?: number
  /**
   * Renews the lease this often while an attempt runs, in milliseconds: another process takes over three times as long after this one
   * was killed, however long the deadline is. Default null: the lease lasts twice the deadline.
   */
  renewMs?: number | null
  /** Maximum pause after the first failure in milliseconds; default 1,000. Doubles per failure, up to an hour. */
  backoffMs?: number
  /** Maximum number of duties performed concurrently in one process; default 4. */
  atOnce?: number
}

/** A reactor with defaults filled in and the payload type erased. */
export type Reactor<D> = Required<ReactorOf<object, D>>

/** Declares a reactor; `dutiesOf` and `perform` share the payload type. */
export const reactor = <P extends object, D>(definition: ReactorOf<P, D>): Reactor<D> =>
  ({ ...usual, ...definition }) as unknown as Reactor<D>

const usual = {
  dutiesOf: () => [],
  every: null,
  givenUp: async () => nothing,
  attempts: 8,
  deadlineMs: 30_000,
  renewMs: null,
  backoffMs: 1000,
  atOnce: 4,
}

/** A retry would fail again: the duty is parked at once. */
export class PermanentFailure extends Error {}

/** All duties that an event creates for these reactors. */
export const dutiesFor =
  (reactors: readonly Pick<Reactor<never>, 'name' | 'dutiesOf'>[]): DutiesOf =>
  event =>
    reactors.flatMap(({ name, dutiesOf }) =>
      dutiesOf(event as Recorded<DecisionEvent>).map((duty, index) =>
        newDuty(event, name, duty, index),
      ),
    )

function newDuty(
  { event_id, stream, request_id, occurred_at }: Recorded<Event>,
  reactor: string,
  { payload, due_at }: Duty<object>,
  index: number,
): NewDuty {
  return {
    duty_id: dutyIdOf(event_id, reactor, index),
    reactor,
    cause: stream,
    event_id,
    request_id,
    payload: bounded(payload, reactor),
    created_at: occurred_at,
    due_at: due_at?.toISOString() ?? occurred_at,
  }
}
